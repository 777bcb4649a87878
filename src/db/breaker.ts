import { randomUUID } from 'node:crypto';
import { Retryable, Unavailable } from './errors.js';
import type { Tx } from './transaction.js';

/** When it opens, for how long, and how long one probe may take. */
export interface BreakerLimits {
  readonly failuresMax: number;
  readonly windowMs: number;
  readonly openMs: number;
  readonly leaseMs: number;
}

/** A provider serves one book per account (R21), so its trouble in one book is not that of the other. */
export function breakerName(of: { readonly provider: string; readonly book: string }): string {
  return `${of.provider}:${of.book}`;
}

/** Admission to one call; report its end through it, once. */
export interface Admission {
  succeeded(): Promise<void>;
  /** The provider is unwell. True when this failure opened the breaker. */
  failed(): Promise<boolean>;
}

export interface Breaker {
  /** An admission, or for how long the breaker stays open. */
  admit(): Promise<Admission | { readonly openForMs: number }>;
}

/**
 * One breaker of that name for every process: its state is a row. While PostgreSQL does not answer, this process alone
 * counts in memory, so that a provider in trouble is spared then, too.
 */
export function createBreaker(db: Tx, name: string, limits: BreakerLimits): Breaker {
  const local = createLocalBreaker(limits);
  return {
    async admit() {
      const caller = randomUUID();
      const admitted = await whileAway(ask(db, { name, caller, limits }), () => null);
      if (admitted === null) return local.admit();
      // What was counted alone is over: the row knows better.
      local.forget();
      if (admitted.verdict === 'open') return { openForMs: admitted.waitMs };
      return {
        succeeded: async () => {
          // Lost with the database: the lease runs out, and another probe comes.
          if (admitted.verdict === 'probe') await whileAway(recovered(db, { name, caller }), () => undefined);
        },
        failed: () => whileAway(failed(db, { name, caller, limits }), () => local.fail()),
      };
    },
  };
}

/** What the database answers, or `otherwise` while it is away; any other error is a bug and is thrown. */
async function whileAway<T, U>(answer: Promise<T>, otherwise: () => U): Promise<T | U> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Unavailable || error instanceof Retryable) return otherwise();
    throw error;
  }
}

/** A breaker as a person sees it. */
export interface BreakerRow {
  readonly name: string;
  readonly state: 'closed' | 'open' | 'half_open';
  readonly recentFailures: number;
  readonly openUntil: Date | null;
  readonly changedAt: Date;
}

export async function listBreakers(db: Tx): Promise<BreakerRow[]> {
  return db.query<BreakerRow>(
    `select name, state, cardinality(failed_at) as "recentFailures", open_until as "openUntil",
       changed_at as "changedAt" from sverka.breaker order by name`,
  );
}

/** For how long calls are refused now, in milliseconds; 0 when they are not. For edges that only look. */
export async function breakerOpenMs(db: Tx, name: string): Promise<number> {
  const rows = await db.query<{ ms: number }>(
    `select greatest(0, ceil(extract(epoch from open_until - clock_timestamp()) * 1000))::int as ms
       from sverka.breaker where name = $1 and state = 'open'`,
    [name],
  );
  return rows[0]?.ms ?? 0;
}

interface Call {
  readonly name: string;
  readonly caller: string;
}

async function ask(db: Tx, { name, caller, limits }: Call & { limits: BreakerLimits }) {
  const rows = await db.query<{ verdict: 'pass' | 'probe' | 'open'; waitMs: number }>(
    `select verdict, wait_ms as "waitMs" from sverka.breaker_admit($1, $2, $3 * interval '1 millisecond')`,
    [name, caller, limits.leaseMs],
  );
  return rows[0] ?? null;
}

async function failed(db: Tx, { name, caller, limits }: Call & { limits: BreakerLimits }): Promise<boolean> {
  const rows = await db.query<{ opened: boolean }>(
    `select sverka.breaker_failed($1, $2, $3, $4 * interval '1 millisecond', $5 * interval '1 millisecond') as opened`,
    [name, caller, limits.failuresMax, limits.windowMs, limits.openMs],
  );
  return rows[0]?.opened ?? false;
}

async function recovered(db: Tx, { name, caller }: Call): Promise<void> {
  await db.query('select sverka.breaker_recovered($1, $2)', [name, caller]);
}

/** The fallback of one process: the same limits, and a probe of its own. */
function createLocalBreaker({ failuresMax, windowMs, openMs, leaseMs }: BreakerLimits) {
  let failedAt: number[] = [];
  /** Until when calls are refused; null while closed. Past it, the next caller has the probe. */
  let refusedUntil: number | null = null;
  const forget = () => {
    failedAt = [];
    refusedUntil = null;
  };
  const open = () => {
    failedAt = [];
    refusedUntil = Date.now() + openMs;
    return true;
  };
  const fail = () => {
    if (refusedUntil !== null) return false;
    failedAt = [...failedAt.filter((at) => at > Date.now() - windowMs), Date.now()];
    return failedAt.length >= failuresMax && open();
  };
  return {
    fail,
    forget,
    admit(): Admission | { readonly openForMs: number } {
      if (refusedUntil === null) return { succeeded: async () => undefined, failed: async () => fail() };
      const openForMs = refusedUntil - Date.now();
      if (openForMs > 0) return { openForMs };
      refusedUntil = Date.now() + leaseMs;
      return {
        succeeded: async () => forget(),
        failed: async () => {
          open();
          return false;
        },
      };
    },
  };
}
