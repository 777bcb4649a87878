import type pg from 'pg';
import type { ActivityDeps } from '../../src/activities/deps.js';
import type { CustodyClient } from '../../src/providers/custody/client.js';

type Query = (sql: string, params?: unknown[]) => Promise<pg.QueryResult>;
/** Stands in place of a statement inside a transaction. */
type Rewrite = (run: Query, sql: string, params?: unknown[]) => Promise<pg.QueryResult>;

/** Faults of a careless worker, by what is done wrong: a drill that stays green under one shows nothing. */
export const PLANTED_IN_WORKER = {
  /** What moved is committed first, and the money afterwards. */
  'credit in a second transaction': async (run, sql, params) => {
    if (sql.includes('ledger.post(')) {
      await run('COMMIT');
      await run('BEGIN');
    }
    return run(sql, params);
  },
  /** Any answer is taken for the newest. */
  'apply without a ticket': (run, sql, params) =>
    sql.includes(`nextval('sverka.read_ticket') as ticket`)
      ? run(`select 9000000000000000000::bigint as ticket`)
      : run(sql, params),
  /** Whatever waits by now is done, also what came during the read. */
  'marks done what came after the read': (run, sql, params) =>
    sql.includes('with still') && sql.includes(`set status = 'done'`)
      ? run(
          `update sverka.inbox set status = 'done' where subject_ref in
               (select subject_ref from sverka.inbox where id = any ($1))`,
          // Which were selected counts; how often each was armed does not.
          params?.slice(0, 1),
        )
      : run(sql, params),
  /** What a page of balances holds is lost, and the position passes it. */
  'moves a position without its page': (run, sql, params) =>
    sql.includes('sverka.store_transactions(') && params?.[12] === true
      ? run('select 0 as stored, 0 as moved, 0 as stale, 0 as conflicts, 0 as gaps')
      : run(sql, params),
} as const satisfies Readonly<Record<string, Rewrite>>;

/** A lost create is made again under a new reference, and nobody asks for the old one. */
export const CREATES_AGAIN = 'creates again without asking';

export type PlantedInWorker = keyof typeof PLANTED_IN_WORKER | typeof CREATES_AGAIN;

/** The deps with that fault in them; as they are when it is none of these. */
export function plantedInWorker(fault: string | undefined, deps: ActivityDeps): ActivityDeps {
  if (fault === CREATES_AGAIN) return { ...deps, custody: (of) => forgetful(deps.custody(of)) };
  const rewrite: Rewrite | undefined = Object.entries(PLANTED_IN_WORKER).find(([name]) => name === fault)?.[1];
  return rewrite ? { ...deps, pool: rewritten(deps.pool, rewrite) } : deps;
}

function rewritten(pool: pg.Pool, rewrite: Rewrite): pg.Pool {
  const queryOf = (runner: pg.Pool | pg.PoolClient) => (sql: string, params?: unknown[]) =>
    rewrite((text, values) => runner.query(text, values), sql, params);
  const inside = <T extends object>(target: T, members: Record<string, unknown>): T =>
    new Proxy(target, {
      get(of, name) {
        if (typeof name === 'string' && name in members) return members[name];
        const value: unknown = Reflect.get(of, name, of);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  return inside(pool, {
    query: queryOf(pool),
    connect: async () => {
      const client = await pool.connect();
      return inside(client, { query: queryOf(client) });
    },
  });
}

function forgetful(client: CustodyClient): CustodyClient {
  return new Proxy(client, {
    get(target, name) {
      if (name === 'readAddressByReference') {
        const again: CustodyClient['readAddressByReference'] = (reference, options) =>
          target.createAddress(
            { reference: `${reference}-again`, network: 'tron', asset: 'USDT-TRC20', settleIn: null },
            options,
          );
        return again;
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
