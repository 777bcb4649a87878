import { startCardChange } from '../../src/client/card-changes.js';
import { requestDepositAddress } from '../../src/client/deposit-addresses.js';
import { requestIssuance } from '../../src/client/issuances.js';
import { requestCardLoad } from '../../src/client/loads.js';
import { findRunningRequest } from '../../src/client/request-progress.js';
import { connectTemporal, type Temporal } from '../../src/client/temporal.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { createGatewayApp } from '../../src/http/gateway/app.js';
import { listen } from '../../src/http/listen.js';
import { createLog } from '../../src/telemetry/log.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { makeMerchant, type TestMerchant } from './gateway.js';
import { testKeyring } from './test-keyring.js';
import { addressRow } from './worker-rows.js';
import type { WorkerWorld } from './worker-world.js';

/** One answer of the gateway; `body` is its JSON. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>> & { readonly id: string };
}

/** The real gateway over a world's database and Temporal, with a Temporal client of its own. */
export interface WorldGateway {
  readonly temporal: Temporal;
  /** `POST /v1/deposit-addresses` with that Idempotency-Key. */
  create(merchant: TestMerchant, key: string, options?: CreateOptions): Promise<GatewayAnswer>;
  get(merchant: TestMerchant, path: string): Promise<GatewayAnswer>;
  /** `DELETE` of a cardholder. */
  erase(merchant: TestMerchant, path: string): Promise<GatewayAnswer>;
  /** Any POST with that Idempotency-Key. */
  post(merchant: TestMerchant, path: string, call: PostCall): Promise<GatewayAnswer>;
  close(): Promise<void>;
}

export interface PostCall {
  readonly key: string;
  readonly body?: object;
  readonly prefer?: string;
}

export interface CreateOptions {
  readonly body?: object;
  readonly prefer?: string;
}

/** `address` and `namespace` are where the gateway looks for Temporal, when that is not where the world's is. */
export async function openWorldGateway(
  world: WorkerWorld,
  options: { address?: string; namespace?: string } = {},
): Promise<WorldGateway> {
  const pool = createPool(world.database.urlFor('gateway'), { max: 20, applicationName: 'test-gateway' });
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = world.config;
  const config = {
    ...world.config,
    TEMPORAL_ADDRESS: options.address ?? TEMPORAL_ADDRESS,
    TEMPORAL_NAMESPACE: options.namespace ?? TEMPORAL_NAMESPACE,
  };
  const temporal = connectTemporal(config);
  const app = createGatewayApp({
    config: { ...config, SVERKA_RATE_LIMIT: 100_000, SVERKA_FINGERPRINT_KEY: 'a fingerprint key that only tests have' },
    db: queriesOf(pool),
    transact: (work) => inTransaction(pool, work),
    publicKey: testKeyring().publicKey,
    log: createLog({ process: 'gateway', level: 'silent' }),
    metrics: createMetrics(),
    stopping: () => false,
    starts: {
      depositAddress: (input, deadlineMs) => requestDepositAddress(temporal, input, deadlineMs),
      issuance: (input, deadlineMs) => requestIssuance(temporal, input, deadlineMs),
      cardLoad: (input, deadlineMs) => requestCardLoad(temporal, input, deadlineMs),
      cardChange: (input) => startCardChange(temporal, input),
      findRunning: (of) => findRunningRequest(temporal, of),
    },
  });
  const listener = await listen(app.fetch, { host: '127.0.0.1', port: 0 });
  const call = async (path: string, init: RequestInit): Promise<GatewayAnswer> => {
    const response = await fetch(listener.url + path, init);
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  };
  const post: WorldGateway['post'] = (merchant, path, { key, body, prefer }) =>
    call(path, {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${merchant.keys.live}`,
        'content-type': 'application/json',
        'idempotency-key': key,
        ...(prefer !== undefined && { prefer }),
      },
    });
  return {
    temporal,
    create: (merchant, key, { body = { network: 'tron' }, prefer } = {}) =>
      post(merchant, '/v1/deposit-addresses', { key, body, ...(prefer !== undefined && { prefer }) }),
    post,
    get: (merchant, path) => call(path, { headers: { authorization: `Bearer ${merchant.keys.live}` } }),
    erase: (merchant, path) =>
      call(path, { method: 'DELETE', headers: { authorization: `Bearer ${merchant.keys.live}` } }),
    async close() {
      await listener.close(0);
      await temporal.connection.close();
      await pool.end();
    },
  };
}

export function makeWorldMerchant(world: WorkerWorld): Promise<TestMerchant> {
  return makeMerchant(world.tx);
}

/** How many addresses the custodian has really made. */
export async function addressesMade({ custody }: WorkerWorld): Promise<number> {
  return (await custody.truth()).effects.filter((effect) => effect.kind === 'address').length;
}

export async function isActive(world: WorkerWorld, id: string): Promise<boolean> {
  return (await addressRow(world, id))?.state === 'active';
}
