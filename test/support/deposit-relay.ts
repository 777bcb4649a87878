import type pg from 'pg';
import type { ProviderConfig } from '../../src/config.js';
import { Retryable, Unavailable } from '../../src/db/errors.js';
import { acceptDeliveries, type Delivery } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { type Listener, listen } from '../../src/http/listen.js';
import { createRelayApp } from '../../src/http/relay/app.js';
import { createBatcher } from '../../src/http/relay/batcher.js';
import { createEndpoints, type SealBody } from '../../src/http/relay/endpoints.js';
import { silentLog } from '../../src/telemetry/log.js';
import { signatureOf } from './deposit-deliveries.js';
import { TEST_SECRET } from './simulated-custody.js';
import type { TestDatabase } from './test-database.js';

/** The relay's app on a port of its own with the relay's role, put together as `src/relay.ts` does. */
export interface TestRelay {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Subjects it would have nudged. */
  readonly nudges: string[];
  readonly counts: { rejected: number; failed: number };
  /** Moves the clock that freshness is judged by. */
  readonly clock: { aheadMs: number };
  /** Posts a signed body to the live endpoint; answers the status. */
  post(body: string | Buffer, options?: PostOptions): Promise<{ status: number; text: string; headers: Headers }>;
  close(): Promise<void>;
}

export interface PostOptions {
  readonly path?: string;
  readonly method?: string;
  readonly secret?: string;
  readonly age?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openTestRelay(
  database: TestDatabase,
  options: {
    secrets?: readonly string[];
    rateLimit?: number;
    port?: number;
    databaseUrl?: string;
    /** For what must be sealed; left out, nothing of it is kept. */
    seal?: SealBody;
  } = {},
): Promise<TestRelay> {
  const pool = createPool(options.databaseUrl ?? database.urlFor('relay'), { max: 4, applicationName: 'test-relay' });
  const db = queriesOf(pool);
  const nudges: string[] = [];
  const counts = { rejected: 0, failed: 0 };
  const clock = { aheadMs: 0 };
  const accounts = (book: 'live' | 'test', webhookSecrets: readonly string[]): ProviderConfig[] =>
    (['custody', 'issuer'] as const).map((provider) => ({
      provider,
      book,
      account: `main-${book}`,
      url: 'http://127.0.0.1:9',
      apiKey: 'unused',
      webhookSecrets,
    }));
  const app = createRelayApp({
    endpoints: createEndpoints(
      [...accounts('live', options.secrets ?? [TEST_SECRET]), ...accounts('test', [`t${TEST_SECRET}`])],
      { now: () => Date.now() + clock.aheadMs, ...(options.seal ? { seal: options.seal } : {}) },
    ),
    log: silentLog,
    rateLimit: options.rateLimit ?? 10_000,
    accept: createBatcher((batch: readonly Delivery[]) => acceptDeliveries(db, batch), {
      isOutage: (error) => error instanceof Unavailable || error instanceof Retryable,
      lanes: 2,
    }),
    nudge: ({ subject }) => void nudges.push(subject?.ref ?? ''),
    count: (what) => {
      counts[what] += 1;
    },
  });
  const listener: Listener = await listen(app, { host: '127.0.0.1', port: options.port ?? 0 });
  return {
    url: listener.url,
    pool,
    nudges,
    counts,
    clock,
    post: (body, how = {}) => post(listener.url, body, how),
    async close() {
      await listener.close(1_000);
      await pool.end();
    },
  };
}

async function post(url: string, body: string | Buffer, how: PostOptions) {
  const { path = '/hooks/custody/main-live', method = 'POST' } = how;
  const headers = { 'x-custody-signature': signatureOf(body, how), ...how.headers };
  const answer = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(method === 'POST' ? { body: new Uint8Array(Buffer.from(body)) } : {}),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}
