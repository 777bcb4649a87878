import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { retrying } from '../../src/db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../../src/db/transaction.js';
import type { Book } from '../../src/domain/books.js';
import { createGatewayApp } from '../../src/http/gateway/app.js';
import type { GatewayDeps, Starts } from '../../src/http/gateway/call.js';
import { type Listener, listen } from '../../src/http/listen.js';
import { createLog } from '../../src/telemetry/log.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { memoryKeys } from './memory-keys.js';
import { openTestDatabase, type TestDatabase } from './test-database.js';

/** A merchant with keys of both books. */
export interface TestMerchant {
  readonly id: string;
  readonly keys: Readonly<Record<Book, string>>;
  readonly readOnly: string;
}

/** A gateway on a port of its own, over a database of its own, with the gateway's role. */
export interface TestGateway {
  readonly url: string;
  readonly database: TestDatabase;
  /** The owner of the database: for what a test prepares. */
  readonly owner: pg.Pool;
  readonly tx: Tx;
  readonly logLines: string[];
  stopping: boolean;
  call(method: string, path: string, options?: CallOptions): Promise<TestAnswer>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  /** Bytes as they are, instead of `body`. */
  readonly raw?: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the answer; `{}` where there is none. */
  readonly json: Record<string, unknown>;
}

const PROVIDERS: GatewayDeps['config']['providers'] = (['live', 'test'] as const).map((book) => ({
  provider: 'custody',
  book,
  account: `main-${book}`,
  url: 'http://127.0.0.1:9',
  apiKey: 'unused',
  webhookSecrets: ['x'.repeat(32)],
}));

const FINGERPRINT_KEY = 'a fingerprint key that only tests have';
let keys: ReturnType<typeof memoryKeys> | null = null;

/** The keys that open what a test's gateway has sealed; made when first asked for. */
export function testKeys(): ReturnType<typeof memoryKeys> {
  keys ??= memoryKeys('k-1', 'k-2');
  return keys;
}

export async function openTestGateway(
  options: {
    starts?: Partial<Starts>;
    limit?: number;
    providers?: GatewayDeps['config']['providers'];
    /** Other than the key `k-1` of `testKeys`; null for none. */
    publicKey?: GatewayDeps['publicKey'];
    /** Null for none. */
    fingerprintKey?: string | null;
    /** Another database than its own, such as one that is not there. */
    databaseUrl?: string;
  } = {},
): Promise<TestGateway> {
  const database = await openTestDatabase();
  const owner = createPool(database.url, { max: 4, applicationName: 'test' });
  const pool = createPool(options.databaseUrl ?? database.urlFor('gateway'), {
    max: 4,
    applicationName: 'test-gateway',
  });
  const logLines: string[] = [];
  const stream = { write: (line: string) => void logLines.push(line) };
  const app = createGatewayApp({
    config: {
      providers: options.providers ?? PROVIDERS,
      SVERKA_RATE_LIMIT: options.limit ?? 100_000,
      SVERKA_RATE_LIMIT_WINDOW: 60_000,
      SVERKA_FINGERPRINT_KEY:
        options.fingerprintKey === undefined ? FINGERPRINT_KEY : (options.fingerprintKey ?? undefined),
    },
    db: queriesOf(pool),
    transact: (work) => retrying(() => inTransaction(pool, work)),
    publicKey: options.publicKey === undefined ? () => testKeys().publicKey('k-1') : options.publicKey,
    log: createLog({ process: 'gateway', level: 'info', stream }),
    metrics: createMetrics(),
    stopping: () => gateway.stopping,
    starts: {
      depositAddress: async () => ({ kind: 'not_sent' }),
      issuance: async () => ({ kind: 'not_sent' }),
      cardLoad: async () => ({ kind: 'not_sent' }),
      cardChange: async () => undefined,
      findRunning: async () => null,
      ...options.starts,
    },
  });
  const listener = await listen(app.fetch, { host: '127.0.0.1', port: 0 });
  const gateway: TestGateway = {
    url: listener.url,
    database,
    owner,
    tx: queriesOf(owner),
    logLines,
    stopping: false,
    call: (method, path, given) => request(listener, { method, path }, given),
    async close() {
      await listener.close(0);
      await Promise.all([pool.end(), owner.end()]);
      await database.close();
    },
  };
  return gateway;
}

/** A merchant of that database. */
export async function makeMerchant(tx: Tx): Promise<TestMerchant> {
  const id = newId('merchant');
  await tx.query('select sverka.create_merchant($1, $2)', [id, 'A merchant']);
  const [live, test, readOnly] = [newKey('live'), newKey('test'), newKey('live')];
  await makeKey(tx, { merchantId: id, book: 'live', access: 'full', key: live });
  await makeKey(tx, { merchantId: id, book: 'test', access: 'full', key: test });
  await makeKey(tx, { merchantId: id, book: 'live', access: 'read_only', key: readOnly });
  return { id, keys: { live, test }, readOnly };
}

export function newKey(book: Book): string {
  return `sk_${book}_${randomBytes(32).toString('hex').slice(0, 43)}`;
}

/** Keeps the key's hash and answers its id. */
export async function makeKey(
  tx: Tx,
  key: { merchantId: string; book: Book; access: 'full' | 'read_only'; key: string },
): Promise<string> {
  const id = newId('apiKey');
  const hash = createHash('sha256').update(key.key).digest();
  await tx.query('select sverka.create_api_key($1, $2, $3, $4, $5)', [id, key.merchantId, key.book, key.access, hash]);
  return id;
}

async function request(
  listener: Listener,
  { method, path }: { method: string; path: string },
  { key, body, raw, headers = {} }: CallOptions = {},
): Promise<TestAnswer> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const answer = await fetch(listener.url + path, {
    method,
    redirect: 'manual',
    ...(content !== undefined && { body: content }),
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get('content-type') ?? '') && text !== '';
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : {} };
}
