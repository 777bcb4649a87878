import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { RunHook } from '../../src/local/run-file.js';
import { eventually } from './running-product.js';
import { testTemporal } from './test-temporal.js';

/** A secret that no output may show. */
export const CLI_SECRET = 'a webhook secret of more than 32 characters';

/** A namespace of one file alone: schedules and standing workflows have fixed ids. */
export async function newCliNamespace(): Promise<string> {
  const namespace = `cli-${randomBytes(4).toString('hex')}`;
  const connection = await Connection.connect({ address: testTemporal().address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  await eventually('the namespace is known everywhere', () =>
    connection.workflowService.listWorkflowExecutions({ namespace }).then(
      () => true,
      () => false,
    ),
  );
  await connection.close();
  return namespace;
}

/** An issuer that is configured and never called. */
export function unusedIssuer(): Record<string, string> {
  const of = (book: string) => ({
    [`SVERKA_${book}_ISSUER_URL`]: 'http://127.0.0.1:9',
    [`SVERKA_${book}_ISSUER_API_KEY`]: 'key',
    [`SVERKA_${book}_ISSUER_WEBHOOK_SECRETS`]: CLI_SECRET,
  });
  return { ...of('LIVE'), ...of('TEST') };
}

/** An endpoint as the run file has it. */
export function hookOf(provider: RunHook['provider'], book: 'live' | 'test', secrets: readonly string[]): RunHook {
  return {
    ...{ provider, endpoint: `main-${book}`, book, url: 'http://127.0.0.1:9/hooks' },
    ...{
      signatureHeader: 'X-Custody-Signature',
      scheme: 't,v1',
      encoding: 'hex',
      deliveryId: 'body:event_id',
      secrets,
    },
  };
}
