import { ServiceError } from '@temporalio/client';
import { logUnaccepted, requestAccepted } from '../../src/client/accepted.js';
import type { Temporal } from '../../src/client/temporal.js';
import type { Log } from '../../src/telemetry/log.js';

const temporal = { connection: { withDeadline: (_: number, call: () => unknown) => call() } } as unknown as Temporal;
/** As the client throws it: our error around gRPC's own. */
const refused = (code: number, message = 'no') =>
  new ServiceError('Failed', { cause: Object.assign(new Error(message), { code, details: message, metadata: {} }) });

async function askThat(error: Error) {
  const lines: string[] = [];
  const write = (level: string) => () => void lines.push(level);
  const log = { warn: write('warn'), error: write('error') } as unknown as Log;
  const refuse = async () => {
    throw error;
  };
  const operation = { workflowHandle: refuse } as never;
  const result = await requestAccepted(temporal, 100, { operation, execute: refuse });
  return { kind: logUnaccepted(log, result).kind, lines };
}

test.each([
  ['that does not know our key', 16],
  ['that gives us no right', 7],
  ['without our namespace', 5],
])('a server %s is an error in the log: only a person can mend it', async (_, code) => {
  expect(await askThat(refused(code))).toEqual({ kind: 'unknown', lines: ['error'] });
});

test('a deadline is a warning, and proves nothing', async () => {
  expect(await askThat(refused(4))).toEqual({ kind: 'unknown', lines: ['warn'] });
});

test('no connection is a warning, and proves that nothing was sent', async () => {
  expect(await askThat(refused(14, 'No connection established'))).toEqual({ kind: 'not_sent', lines: ['warn'] });
});
