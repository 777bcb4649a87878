import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { postgresCheck, schemaCheck } from '../../src/http/checks.js';
import { type Ops, type OpsCheck, startOps } from '../../src/http/ops.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const open: Ops[] = [];
afterEach(async () => {
  for (const ops of open.splice(0)) await ops.close();
});

async function start(checks: OpsCheck[], live?: () => boolean): Promise<Ops> {
  const ops = await startOps({ process: 'test', host: '127.0.0.1', port: 0, checks, ...(live && { live }) });
  open.push(ops);
  return ops;
}

const well = (name: string, required = true): OpsCheck => ({ name, required, check: async () => null });
const ill = (name: string, required: boolean, check: OpsCheck['check']): OpsCheck => ({ name, required, check });

interface Told {
  readonly name: string;
  readonly required: boolean;
  readonly ok: boolean;
  readonly detail: string | null;
}

async function ready(ops: Ops) {
  const answer = await fetch(`${ops.url}/readyz`);
  const text = await answer.text();
  const { status, checks } = JSON.parse(text) as { status: string; checks: Told[] };
  const told = checks.map(({ name, required, ok, detail }) => ({ name, required, ok, detail }));
  return { code: answer.status, status, text, checks: told };
}

describe('/readyz', () => {
  test('is ok when all is well, degraded when what is watched fails, failed when what is required fails', async () => {
    expect(await ready(await start([well('a'), well('b', false)]))).toMatchObject({ code: 200, status: 'ok' });
    const watched = ill('b', false, async () => 'waiting');
    expect(await ready(await start([well('a'), watched]))).toMatchObject({
      code: 200,
      status: 'degraded',
      checks: [
        { name: 'a', required: true, ok: true, detail: null },
        { name: 'b', required: false, ok: false, detail: 'waiting' },
      ],
    });
    const required = ill('c', true, async () => 'schema_behind');
    expect(await ready(await start([watched, required]))).toMatchObject({ code: 503, status: 'failed' });
  });

  test('names a class and never what the driver said', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432 user=sverka'), {
      code: 'ECONNREFUSED',
    });
    const late = Object.assign(new Error('canceling statement of secret_user'), { code: '57014' });
    const ops = await start([
      ill('a', true, () => Promise.reject(refused)),
      ill('b', true, () => Promise.reject(late)),
      ill('c', true, () => Promise.reject(new Error('timeout exceeded when trying to connect'))),
    ]);
    const { checks, text } = await ready(ops);
    expect(checks.map((check) => check.detail)).toEqual(['refused', 'timeout', 'timeout']);
    expect(text).not.toMatch(/10\.1\.2\.3|sverka|secret/);
  });

  test('answers although a check never does, and asks a hanging dependency once for many probes', async () => {
    let asked = 0;
    const hangs = ill('a', true, () => {
      asked += 1;
      return new Promise(() => undefined);
    });
    const ops = await start([hangs]);
    const answers = await Promise.all([ready(ops), ready(ops), ready(ops)]);
    expect(answers.map((answer) => answer.checks)).toEqual(
      Array.from({ length: 3 }, () => [{ name: 'a', required: true, ok: false, detail: 'timeout' }]),
    );
    expect(asked).toBe(1);
  });

  test('is 503 from the first moment of a shutdown, while the process is still live', async () => {
    const ops = await start([well('a')]);
    ops.shuttingDown();
    expect((await ready(ops)).code).toBe(503);
    expect((await fetch(`${ops.url}/livez`)).status).toBe(200);
  });
});

test('/livez fails when the process says that it should be started again', async () => {
  const ops = await start([], () => false);
  expect((await fetch(`${ops.url}/livez`)).status).toBe(503);
});

test('nothing else is served: other paths are 404, other methods 405, metrics only where there are some', async () => {
  const ops = await start([]);
  expect((await fetch(`${ops.url}/metrics`)).status).toBe(404);
  expect((await fetch(`${ops.url}/`)).status).toBe(404);
  expect((await fetch(`${ops.url}/readyz`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${ops.url}/readyz`, { method: 'HEAD' })).status).toBe(200);
});

describe('the checks of a database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(async () => database?.close());

  test('see its schema behind or ahead of this build', async () => {
    const pool = createPool(database.url, { max: 1, applicationName: 'test' });
    const db = queriesOf(pool);
    const move = (by: number) =>
      db.query(`create or replace view sverka.schema_version as
        select coalesce(max(left(name, 6)::int), 0) + ${by} as version from sverka.schema_migration`);
    try {
      const answers = [];
      for (const by of [0, -1, 1]) {
        await move(by);
        answers.push(await schemaCheck(db).check());
      }
      expect(answers).toEqual([null, 'schema_behind', 'schema_ahead']);
      expect(await postgresCheck(db).check()).toBeNull();
    } finally {
      await pool.end();
    }
  });

  test('see that nobody listens', async () => {
    const pool = createPool('postgres://nobody@127.0.0.1:9/none', { max: 1, applicationName: 'test' });
    try {
      const ops = await start([postgresCheck(queriesOf(pool)), schemaCheck(queriesOf(pool))]);
      const { code, checks } = await ready(ops);
      expect([code, checks]).toMatchObject([503, [{ detail: 'refused' }, { detail: 'refused' }]]);
    } finally {
      await pool.end();
    }
  });
});
