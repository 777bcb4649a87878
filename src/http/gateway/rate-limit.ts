import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Tx } from '../../db/transaction.js';
import { Problem } from '../problem.js';

/** What is left of a caller's budget, as headers of every answer behind a key. */
export interface Budget {
  readonly headers: Readonly<Record<string, string>>;
  readonly exceeded: boolean;
}

export interface RateLimiter {
  /** Counts one call of that key. Shared by every copy of the gateway; without PostgreSQL each counts for itself. */
  consume(keyId: string): Promise<Budget>;
}

/** `limit` calls within `windowMs` by key, counted in sverka.rate_limit; `prefix` keeps what is counted apart. */
export function createRateLimiter(db: Tx, options: { limit: number; windowMs: number; prefix?: string }): RateLimiter {
  const seconds = Math.max(1, Math.round(options.windowMs / 1_000));
  const budget = { points: options.limit, duration: seconds, keyPrefix: options.prefix ?? 'api' };
  const limiter = new RateLimiterPostgres({
    ...budget,
    storeClient: { query: queryWithoutName(db) },
    storeType: 'pool',
    schemaName: 'sverka',
    tableName: 'rate_limit',
    tableCreated: true,
    insuranceLimiter: new RateLimiterMemory(budget),
  });
  return {
    async consume(keyId) {
      const spent = await limiter.consume(keyId).catch((refusal: unknown) => {
        if (refusal instanceof RateLimiterRes) return refusal;
        throw refusal;
      });
      const resetS = Math.max(1, Math.ceil(spent.msBeforeNext / 1_000));
      return {
        exceeded: spent.consumedPoints > options.limit,
        headers: {
          'ratelimit-policy': `"api";q=${options.limit};w=${seconds}`,
          ratelimit: `"api";r=${spent.remainingPoints};t=${resetS}`,
        },
      };
    },
  };
}

/** Throws `rate_limited` for a budget that is used up. */
export function requireBudget(budget: Budget): void {
  if (!budget.exceeded) return;
  const seconds = /t=([0-9]+)/.exec(budget.headers.ratelimit ?? '')?.[1] ?? '1';
  throw new Problem('rate_limited', { headers: { 'retry-after': seconds } });
}

// The limiter names its statements and computes with numbers: through PgBouncer there are no named statements, and our
// pool reads int8 as bigint.
function queryWithoutName(db: Tx) {
  return async ({ text, values }: { text: string; values: unknown[] }) => {
    const rows = await db.query<{ points?: number; expire?: bigint | null }>(text, values);
    const plain = rows.map((row) => ({ ...row, expire: row.expire == null ? null : Number(row.expire) }));
    return { rows: plain, rowCount: plain.length };
  };
}
