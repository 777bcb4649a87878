import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../src/local/temporal.js';
import { testTemporal } from './test-temporal.js';

const RETENTION_SECONDS = 86_400;
/** Numbers of Temporal's own enum. */
const TYPES = { Keyword: 2, Bool: 5 } as const;

/**
 * A namespace that has never seen anything, on the run's server: where ids of standing things are free, or what
 * Temporal looks like after its store was lost or its retention is over.
 */
export async function makeNamespace(): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address: testTemporal().address });
  try {
    const { operatorService, workflowService } = connection;
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS, nanos: 0 } as never,
    });
    const attributes = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, TYPES[type]]);
    await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(attributes) });
    return namespace;
  } finally {
    await connection.close();
  }
}
