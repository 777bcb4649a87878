import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { localPaths } from '../../src/local/paths.js';
import { findTimeSkippingServer } from '../../src/local/temporal-programs.js';

export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
  /** For `workflowBundle: { codePath: bundlePath }`. */
  readonly bundlePath: string;
}

/** The run's one Temporal server (in memory, search attributes registered) and bundle of `src/workflows/index.ts`. */
export function testTemporal(): TestTemporal {
  return {
    address: required('TEST_TEMPORAL_ADDRESS'),
    namespace: 'default',
    bundlePath: required('TEST_WORKFLOW_BUNDLE'),
  };
}

/** A task queue of this test file alone: its workers never meet the tasks of another file. */
export function uniqueTaskQueue(): string {
  return `test-${basename(expect.getState().testPath ?? 'unknown', '.test.ts')}-${randomBytes(4).toString('hex')}`;
}

/** Path of the time-skipping server, for `TestWorkflowEnvironment.createTimeSkipping`; fetched on first use. */
export function timeSkippingServer(): Promise<string> {
  return findTimeSkippingServer(process.env, localPaths(process.env));
}

function required(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set. Run tests by \`npm test\`; files below test/unit have no servers.`);
}
