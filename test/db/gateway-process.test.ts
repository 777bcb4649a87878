import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { keyFiles } from '../../src/local/key-files.js';
import { choosePorts } from '../../src/local/ports.js';
import { ensureKeyring } from '../../src/providers/keys/keyring-file.js';
import { makeMerchant, type TestMerchant } from '../support/gateway.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let merchant: TestMerchant;
let ports: { gateway: number; ops: number; nobody: number };
let folder: string;
let child: ChildProcess;

beforeAll(async () => {
  database = await openTestDatabase();
  const owner = createPool(database.url, { max: 1, applicationName: 'test' });
  merchant = await makeMerchant(queriesOf(owner));
  await owner.end();
  ports = await choosePorts(['gateway', 'ops', 'nobody']);
  folder = mkdtempSync(join(tmpdir(), 'sverka-gateway-'));
  ensureKeyring(keyFiles(folder));
  child = fork(new URL('../../src/gateway.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
    stdio: 'inherit',
    env: {
      DATABASE_URL: database.urlFor('gateway'),
      TEMPORAL_ADDRESS: `127.0.0.1:${ports.nobody}`,
      SVERKA_GATEWAY_PORT: String(ports.gateway),
      SVERKA_OPS_PORT: String(ports.ops),
      SVERKA_LOG_FILE: join(folder, 'log', 'gateway.jsonl'),
      SVERKA_PUBLIC_KEYS_FILE: keyFiles(folder).publicKeys,
      SVERKA_FINGERPRINT_KEY: 'a fingerprint key that only tests have',
      SVERKA_TEST_CUSTODY_URL: 'http://127.0.0.1:9',
      SVERKA_TEST_CUSTODY_API_KEY: 'unused',
      SVERKA_TEST_CUSTODY_WEBHOOK_SECRETS: 'x'.repeat(32),
    },
  });
  const [message] = await once(child, 'message');
  if (!message.ready) throw new Error('The first message of a process says that it is ready.');
});
afterAll(async () => {
  if (child?.exitCode === null) child.kill('SIGKILL');
  await database?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

async function ready() {
  const answer = await ops('/readyz');
  const { status, checks } = (await answer.json()) as { status: string; checks: { name: string; ok: boolean }[] };
  const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  return { answered: [answer.status, status], failing, named: checks.map(({ name }) => name) };
}

const ops = (path: string) => fetch(`http://127.0.0.1:${ports.ops}${path}`);
const api = (path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${ports.gateway}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${merchant.keys.test}`, ...init.headers },
  });

test('without Temporal reads go on, creates are refused as not accepted, and the process is degraded', async () => {
  expect((await api('/v1/wallet')).status).toBe(200);
  const headers = { 'idempotency-key': 'k', 'content-type': 'application/json' };
  const created = await api('/v1/deposit-addresses', { method: 'POST', body: '{"network":"tron"}', headers });
  expect([created.status, await created.json()]).toMatchObject([503, { code: 'temporarily_unavailable' }]);
  expect(created.headers.get('retry-after')).toBe('1');

  expect(await ready()).toEqual({
    answered: [200, 'degraded'],
    failing: ['temporal'],
    named: ['postgres', 'schema', 'cardholder_public_key', 'fingerprint_key', 'temporal', 'pool_wait'],
  });
});

test('without a key to seal with it is not ready and takes no cardholder; with one it goes on by itself', async () => {
  const { publicKeys } = keyFiles(folder);
  const kept = readFileSync(publicKeys);
  const body = '{"first_name":"A","last_name":"B","birth_date":"1990-02-28","country":"DE","document":"X"}';
  const headers = { 'idempotency-key': 'sealed', 'content-type': 'application/json' };
  const create = async () => (await api('/v1/cardholders', { method: 'POST', body, headers })).status;
  rmSync(publicKeys);
  expect(await ready()).toMatchObject({ answered: [503, 'failed'], failing: ['cardholder_public_key', 'temporal'] });
  expect(await create()).toBe(503);
  writeFileSync(publicKeys, kept);
  expect(await ready()).toMatchObject({ answered: [200, 'degraded'] });
  expect(await create()).toBe(201);
});

test('it is live, and its metrics name routes by template and nobody by id', async () => {
  const live = await ops('/livez');
  expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }]);
  await api('/v1/deposits/dep_01m8mxxm1dendtgh5kmdznkxxb');
  const metrics = await (await ops('/metrics')).text();
  expect(metrics).toMatch(
    /sverka_http_request_duration_seconds_count\{method="GET",route="\/v1\/deposits\/\{id\}",status="404"\} 1/,
  );
  expect(metrics).not.toMatch(/dep_01|mer_|key_/);
});

test('its log holds JSON lines with the trace of each call, and never the key', async () => {
  await api('/v1/wallet', { headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' } });
  const text = readFileSync(join(folder, 'log', 'gateway.jsonl'), 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter((line) => line.trace_id === '4bf92f3577b34da6a3ce929d0e0e4736')).toMatchObject([{ status: 200 }]);
  expect(text).not.toContain(merchant.keys.test);
});

test('its public port answers 404 where its ops port answers health', async () => {
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await api(path)).status).toBe(404);
  expect((await ops('/v1/wallet')).status).toBe(404);
});

test('a database that falls silent is answered for with 503; the next call takes another connection', async () => {
  expect((await api('/v1/wallet')).status).toBe(200);
  const owner = createPool(database.url, { max: 1, applicationName: 'test' });
  const { rows } = await owner.query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name = 'sverka-gateway' and datname = current_database()",
  );
  await owner.end();
  expect(rows.length).toBeGreaterThan(0);
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
  try {
    const silent = await api('/v1/wallet');
    expect([silent.status, await silent.json()]).toMatchObject([503, { code: 'temporarily_unavailable' }]);
  } finally {
    for (const { pid } of rows) process.kill(pid, 'SIGCONT');
  }
  expect((await api('/v1/wallet')).status).toBe(200);
});

test('at SIGTERM it ends in order, with 0, its connections closed', async () => {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  await expect(api('/v1/wallet')).rejects.toThrow('fetch failed');
});
