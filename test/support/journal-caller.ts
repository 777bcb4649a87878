// A process of its own that debits a wallet: `node --import tsx journal-caller.ts <JSON of CallerOrder>`.
import { post } from '../../src/db/journal.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction } from '../../src/db/transaction.js';
import { leg } from '../../src/domain/journal.js';

export interface CallerOrder {
  readonly url: string;
  readonly wallet: string;
  readonly clearing: string;
  /** Names of the debits of 1, one after the other; the same name is the same operation key. */
  readonly names: readonly string[];
  /** Keeps the first one's transaction open, for ever. */
  readonly hold: boolean;
}

const order = JSON.parse(process.argv[2] ?? '') as CallerOrder;
const pool = createPool(order.url, { max: 1, applicationName: 'test-caller' });
// Everybody begins when told to.
await new Promise((resolve) => process.stdin.once('data', resolve));
for (const name of order.names) {
  const outcome = await inTransaction(pool, async (tx) => {
    const instrument = { book: 'live' as const, provider: 'sverka', account: 'caller', kind: 'debit', ref: [name] };
    const lines = [leg(BigInt(order.wallet), -1n), leg(BigInt(order.clearing), 1n)];
    const key = { instrument, generation: 0, operation: 'debit' };
    const subject = { type: 'debit', id: name };
    const [result] = await post(tx, [{ kind: 'transfer', key, lines, subject }], { traceId: null });
    if (order.hold) process.stdout.write('held\n');
    if (order.hold) await new Promise(() => setInterval(() => undefined, 1_000));
    return result?.outcome;
  });
  process.stdout.write(`${outcome}\n`);
}
process.stdin.destroy();
await pool.end();
