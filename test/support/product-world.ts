import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { keyFiles } from '../../src/local/key-files.js';
import { choosePorts } from '../../src/local/ports.js';
import { startCustodySimulator } from '../../src/providers/custody/simulator.js';
import { ensureKeyring } from '../../src/providers/keys/keyring-file.js';
import { signatureOf } from './deposit-deliveries.js';
import { makeMerchant, type TestMerchant } from './gateway.js';
import { type ProductProcess, startProduct } from './product-process.js';
import { TEST_SECRET, type Truth } from './simulated-custody.js';
import type { TestDatabase } from './test-database.js';
import { testTemporal, uniqueTaskQueue } from './test-temporal.js';
import { makeNamespace } from './worker-namespaces.js';

/** Gateway, relay and worker as processes of their own, with a custodian whose webhooks go to that relay. */
export interface ProductWorld {
  readonly gateway: ProductProcess;
  readonly relay: ProductProcess;
  readonly worker: ProductProcess;
  readonly merchant: TestMerchant;
  /** The owner of the database, by no detour. */
  readonly owner: pg.Pool;
  /** What the processes were started with, for another one beside them. */
  readonly env: (role: 'gateway' | 'relay' | 'worker') => Record<string, string>;
  readonly custody: {
    drive(method: string, path: string, body?: unknown): Promise<Record<string, unknown> & { id: string }>;
    truth(): Promise<Truth>;
  };
  /** Calls the gateway as the merchant. */
  call(
    method: string,
    path: string,
    body?: object,
    key?: string,
  ): Promise<{ status: number; headers: Headers; json: Json }>;
  /** Delivers a signed notification to the relay; 0 when nobody answers. */
  notify(body: string): Promise<number>;
  /** `ok`, `degraded`, `failed` by `/readyz` of each process, in the order gateway, relay, worker. */
  ready(): Promise<string[]>;
  /** An address of the merchant's, made through the gateway. */
  address(): Promise<string>;
  /** A transfer arrives; answers the custodian's id of it. */
  arrive(address: string, body?: object): Promise<string>;
  /** What the merchant's wallet shows of USDT on tron; null while the gateway does not answer. */
  available(): Promise<string | null>;
  close(): Promise<void>;
}
type Json = Readonly<Record<string, unknown>>;
/** A body under an Idempotency-Key of the test's own; else each call has a new one. */
interface Keyed {
  readonly key: string;
  readonly body: object;
}

const HOOK_RETRIES = 200;
const HOOK_RETRY_MS = 200;

export async function openProductWorld(options: {
  database: Pick<TestDatabase, 'url' | 'urlFor'>;
  settings?: Readonly<Record<string, string>>;
}): Promise<ProductWorld> {
  const { database, settings = {} } = options;
  const owner = createPool(database.url, { max: 2, applicationName: 'test' });
  const merchant = await makeMerchant(queriesOf(owner));
  const { relay: relayPort } = await choosePorts(['relay']);
  const hookUrl = `http://127.0.0.1:${relayPort}/hooks/custody/main-live`;
  const simulator = await startCustodySimulator({
    port: 0,
    accounts: [{ book: 'live', apiKey: 'live-key', hookUrl, webhookSecret: TEST_SECRET }],
    webhookRetryDelaysMs: Array.from({ length: HOOK_RETRIES }, () => HOOK_RETRY_MS),
  });
  const keys = makeKeys();
  const shared = {
    TEMPORAL_ADDRESS: testTemporal().address,
    TEMPORAL_NAMESPACE: await makeNamespace(),
    SVERKA_TASK_QUEUE: uniqueTaskQueue(),
    SVERKA_WORKFLOW_BUNDLE: testTemporal().bundlePath,
    SVERKA_SWEEP_INTERVAL: '300ms',
    SVERKA_SWEEP_GRACE: '1s',
    SVERKA_LIVE_CUSTODY_URL: simulator.url,
    SVERKA_LIVE_CUSTODY_API_KEY: 'live-key',
    SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: TEST_SECRET,
    ...keys.settings,
    ...settings,
  };
  const env: ProductWorld['env'] = (role) => ({ ...shared, DATABASE_URL: database.urlFor(role) });
  const [gateway, relay, worker] = await Promise.all([
    startProduct('gateway', env('gateway')),
    startProduct('relay', env('relay'), { port: relayPort }),
    startProduct('worker', env('worker')),
  ]);
  const drive = driver(simulator.url);
  const call = caller(gateway.url, merchant);
  return {
    ...{ gateway, relay, worker, merchant, owner, env, call },
    custody: { drive, truth: async () => JSON.parse(JSON.stringify(await drive('GET', '/_sim/truth'))) },
    async notify(body) {
      const headers = { 'x-custody-signature': signatureOf(body) };
      return fetch(hookUrl, { method: 'POST', headers, body }).then(
        ({ status }) => status,
        () => 0,
      );
    },
    ready: () => Promise.all([gateway, relay, worker].map(readyOf)),
    async address() {
      const { status, json } = await call('POST', '/v1/deposit-addresses', { network: 'tron' });
      if (status !== 201 && status !== 200) throw new Error(`The address was answered ${status}.`);
      return String(json.address);
    },
    arrive: async (address, body = {}) =>
      (await drive('POST', '/_sim/deposits', { address, amount: '1', status: 'completed', ...body })).id,
    async available() {
      const { status, json } = await call('GET', '/v1/wallet');
      if (status !== 200) return null;
      const rows = json.balances as { asset: string; available: { amount: string } }[];
      return rows.find(({ asset }) => asset === 'USDT-TRC20')?.available.amount ?? '0.000000';
    },
    async close() {
      await Promise.all([gateway, relay, worker].map((process) => process.stop()));
      await simulator.close();
      await owner.end();
      keys.remove();
    },
  };
}

function makeKeys() {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-world-'));
  const files = keyFiles(folder);
  ensureKeyring(files);
  return {
    settings: {
      SVERKA_KEYRING_FILE: files.keyring,
      SVERKA_PUBLIC_KEYS_FILE: files.publicKeys,
      SVERKA_FINGERPRINT_KEY: 'a fingerprint key that only tests have',
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function driver(url: string): ProductWorld['custody']['drive'] {
  return async (method, path, body) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method, ...sent });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return JSON.parse(await answer.text());
  };
}

let keys = 0;

function caller(url: string, merchant: TestMerchant): ProductWorld['call'] {
  return async (method, path, given) => {
    const { key, body } = isKeyed(given) ? given : { key: `key-${(keys += 1)}`, body: given };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${merchant.keys.live}`,
        ...(body && { 'content-type': 'application/json', 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, json: JSON.parse(await answer.text()) };
  };
}

function isKeyed(given: object | undefined): given is Keyed {
  return given !== undefined && 'key' in given && 'body' in given;
}

async function readyOf({ opsUrl }: ProductProcess): Promise<string> {
  const answer = await fetch(`${opsUrl}/readyz`);
  const { status } = JSON.parse(await answer.text());
  return String(status);
}
