import { createBreaker } from '../../src/db/breaker.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';

/** What a process of callers is told: so many of them, each with a pool of its own. */
export interface BreakerOrder {
  readonly url: string;
  readonly name: string;
  readonly callers: number;
  readonly limits: { failuresMax: number; windowMs: number; openMs: number; leaseMs: number };
}

// On `go` all of them ask at once; one line each: `admitted` or `refused`. An admission is never reported.
const order = JSON.parse(process.argv[2] ?? '') as BreakerOrder;
const pools = Array.from({ length: order.callers }, () =>
  createPool(order.url, { max: 1, applicationName: 'sverka-worker' }),
);
await Promise.all(pools.map((pool) => pool.query('select 1')));
process.stdout.write('ready\n');
process.stdin.once('data', () => void ask());

async function ask(): Promise<void> {
  const breakers = pools.map((pool) => createBreaker(queriesOf(pool), order.name, order.limits));
  const answers = await Promise.all(breakers.map((breaker) => breaker.admit()));
  process.stdout.write(answers.map((answer) => ('openForMs' in answer ? 'refused\n' : 'admitted\n')).join(''));
  await Promise.all(pools.map((pool) => pool.end()));
  process.exit(0);
}
