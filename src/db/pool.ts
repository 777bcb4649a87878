import pg from 'pg';

/** A caller that gets no connection within this time is told that the database is not available. */
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;

export interface PoolOptions {
  /** Most connections at once; more callers wait. */
  readonly max: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** How long a caller waits for a connection, 5 s unless told. */
  readonly connectTimeoutMs?: number;
  /** How long a caller waits for the answer to one query, even from a server that has fallen silent; else no limit. */
  readonly queryTimeoutMs?: number;
  /** Told of an error on a connection that nobody was using; the pool has dropped it already. */
  readonly onError?: (error: Error) => void;
}

/**
 * A pool whose rows hold `bigint` for int8, text for numeric (also inside arrays, which the driver would read into
 * doubles), text for a day, `Date` for timestamptz. A connection that breaks never ends the process: the query in
 * flight reports it, the pool opens another. Nothing about a session is set, so PgBouncer may stand in between.
 */
export function createPool(databaseUrl: string, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
    keepAlive: true,
    types: { getTypeParser },
  });
  const report = (error: Error) => options.onError?.(error);
  pool.on('error', report);
  // The pool listens to idle clients only; one that breaks between two queries of a transaction would end the process.
  pool.on('connect', (client) => void client.on('error', report));
  return pool;
}

const { INT8, NUMERIC, DATE } = pg.types.builtins;
const TEXT_ARRAY: number = 1009;
const INT8_ARRAY = 1016;
const NUMERIC_ARRAY = 1231;

type Parser = (text: string) => unknown;
const parseArray: (text: string) => (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY, 'text');

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [INT8, BigInt],
  [INT8_ARRAY, (text) => parseArray(text).map((item) => (item === null ? null : BigInt(item)))],
  [NUMERIC, (text) => text],
  [NUMERIC_ARRAY, parseArray],
  [DATE, (text) => text],
]);

function getTypeParser(oid: number, format?: 'text' | 'binary'): Parser {
  const ours = format === 'binary' ? undefined : PARSERS.get(oid);
  return ours ?? pg.types.getTypeParser(oid, 'text');
}
