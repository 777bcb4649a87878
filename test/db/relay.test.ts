import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type pg from 'pg';
import { loadConfig } from '../../src/config.js';
import { createPool } from '../../src/db/pool.js';
import { notification, signatureOf } from '../support/deposit-deliveries.js';
import { expectDepositInvariants, inboxOf, openAlerts } from '../support/deposit-facts.js';
import { openTestRelay, type TestRelay } from '../support/deposit-relay.js';
import { CANARY_CARD } from '../support/deposit-world.js';
import { TEST_SECRET } from '../support/simulated-custody.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
let relay: TestRelay;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  relay = await openTestRelay(database);
});
beforeEach(async () => {
  await owner.query('delete from sverka.inbox_conflict; delete from sverka.inbox; delete from sverka.alert');
  relay.nudges.length = 0;
  relay.counts.rejected = 0;
  relay.counts.failed = 0;
});
afterEach(async () => {
  await expectDepositInvariants(owner);
});
afterAll(async () => {
  await relay.close();
  await owner.end();
  await database.close();
});

const stored = async () =>
  (
    await owner.query<{ body: Buffer; status: string; reason: string | null }>(
      'select body, status, reason from sverka.inbox order by id',
    )
  ).rows;

describe('a notification', () => {
  it('is stored with its bytes, answered, and nudges its subject; it carries no facts into any table', async () => {
    const body = ` {"event_id":"cev_1", "type":"deposit.changed",\n"object_id":"cdp_1", "amount": 10.00 }`;
    const answer = await relay.post(body, { headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } });
    expect([answer.status, answer.text]).toEqual([200, '{"received":true}']);
    expect(await stored()).toEqual([{ body: Buffer.from(body), status: 'pending', reason: null }]);
    expect(await inboxOf(owner)).toMatchObject([{ delivery: 'cev_1', ref: 'cdp_1' }]);
    expect(relay.nudges).toEqual(['cdp_1']);
    const { rows } = await owner.query('select trace_id from sverka.inbox');
    expect(rows).toEqual([{ trace_id: 'a'.repeat(32) }]);
  });

  it('with what could be a card number is kept masked; its hash is that of the bytes as they came', async () => {
    const body = notification('cdp_1', { note: CANARY_CARD });
    expect((await relay.post(body)).status).toBe(200);
    const { rows } = await owner.query<{ body: Buffer; same: boolean }>(
      'select body, body_hash = sha256($1) as same from sverka.inbox',
      [Buffer.from(body)],
    );
    expect(rows[0]?.same).toBe(true);
    expect(rows[0]?.body.toString()).not.toContain(CANARY_CARD);
    expect((await relay.post(body)).status).toBe(200);
    expect(await stored()).toHaveLength(1);
  });

  it('that comes twice is one row and two nudges', async () => {
    const body = notification('cdp_1');
    expect([(await relay.post(body)).status, (await relay.post(body)).status]).toEqual([200, 200]);
    expect(await stored()).toHaveLength(1);
    expect(relay.nudges).toEqual(['cdp_1', 'cdp_1']);
  });

  it('of the same id with another body is answered, kept aside, alerted on, and nudges', async () => {
    await relay.post(notification('cdp_1', { event_id: 'cev_same' }));
    const other = notification('cdp_2', { event_id: 'cev_same' });
    expect((await relay.post(other)).status).toBe(200);
    const { rows } = await owner.query('select body from sverka.inbox_conflict');
    expect(rows).toEqual([{ body: Buffer.from(other) }]);
    expect(await openAlerts(owner)).toEqual(['inbox_conflict inbox_conflict:custody:main-live']);
    expect(relay.nudges).toEqual(['cdp_1', 'cdp_2']);
    // Durable too: the sweep comes for it when the nudge was lost.
    expect(await inboxOf(owner, `subject_ref = 'cdp_2'`)).toMatchObject([{ status: 'pending' }]);
  });

  it.each([
    ['no JSON', 'nonsense', 'not_json'],
    ['a byte order mark', '\ufeff{}', 'byte_order_mark'],
    [
      'a member twice',
      '{"event_id":"a","event_id":"a","type":"deposit.changed","object_id":"cdp_1"}',
      'repeated_member',
    ],
    [
      'a prototype',
      '{"__proto__":{"a":1},"event_id":"a","type":"deposit.changed","object_id":"cdp_1"}',
      'proto_member',
    ],
    ['no id', '{"type":"deposit.changed","object_id":"cdp_1"}', 'no_event_id'],
    ['no object', '{"event_id":"cev_no","type":"deposit.changed"}', 'no_object_id'],
    ['another type', '{"event_id":"cev_type","type":"card.changed","object_id":"cdp_1"}', 'unknown_type'],
  ])('signed, with %s, is stored and parked, answered 200, and nudges nobody', async (_name, body, reason) => {
    expect((await relay.post(body)).status).toBe(200);
    expect((await relay.post(body)).status).toBe(200);
    expect(await stored()).toEqual([{ body: Buffer.from(body), status: 'parked', reason }]);
    expect(relay.nudges).toEqual([]);
  });

  it('whose id holds a card number is parked once, under the hash of its body; the id is kept nowhere', async () => {
    const body = notification('cdp_1', { event_id: `cev${CANARY_CARD}` });
    for (let n = 0; n < 2; n += 1) expect((await relay.post(body)).status).toBe(200);
    const hash = createHash('sha256').update(body).digest('hex');
    expect(await inboxOf(owner)).toMatchObject([{ delivery: `sha256:${hash}`, ref: null }]);
    const [row] = await stored();
    expect([row?.status, row?.reason, row?.body.includes(CANARY_CARD)]).toEqual(['parked', 'card_data', false]);
  });

  it('of 1 MiB is taken, and of a byte more is not, whether its length is told or not', async () => {
    const full = (bytes: number) => {
      const body = notification('cdp_1', { padding: '' });
      return body.replace('"padding":""', `"padding":"${'x'.repeat(bytes - body.length)}"`);
    };
    expect((await relay.post(full(1024 * 1024))).status).toBe(200);
    expect((await relay.post(full(1024 * 1024 + 1))).status).toBe(413);
    expect(await chunked(full(1024 * 1024 + 1))).toBe(413);
    expect(await stored()).toHaveLength(1);
  });
});

describe('what is not from the custodian', () => {
  const forgeries: [string, (body: string) => Record<string, string>][] = [
    ['another secret', (body) => ({ 'x-custody-signature': signatureOf(body, { secret: `not ${TEST_SECRET}` }) })],
    [
      'the secret of the test book',
      (body) => ({ 'x-custody-signature': signatureOf(body, { secret: `t${TEST_SECRET}` }) }),
    ],
    ['an old time', (body) => ({ 'x-custody-signature': signatureOf(body, { age: 301 }) })],
    ['a time to come', (body) => ({ 'x-custody-signature': signatureOf(body, { age: -3_600 }) })],
    ['an empty signature', () => ({ 'x-custody-signature': '' })],
    ['a short signature', () => ({ 'x-custody-signature': 't=1,v1=abc' })],
    ['the signature of another body', (body) => ({ 'x-custody-signature': signatureOf(`${body} `) })],
    ['the old scheme', (body) => ({ 'x-custody-signature': signatureOf(body).replace('v1=', 'v0=') })],
  ];
  it.each(forgeries)('(%s) is 401 without detail, counted, and not stored', async (_name, headersOf) => {
    const body = notification('cdp_1');
    const answer = await relay.post(body, { headers: headersOf(body) });
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'authentication', errors: [] });
    expect(answer.text).not.toMatch(/signature|secret|expired|stack/i);
    expect(await stored()).toEqual([]);
    expect([relay.nudges, relay.counts]).toEqual([[], { rejected: 1, failed: 0 }]);
  });

  it('cannot take the id of a true one: that is kept apart, nudges, and neither body is money', async () => {
    const forged = notification('cdp_1', { event_id: 'cev_guess' });
    expect((await relay.post(forged, { secret: `not ${TEST_SECRET}` })).status).toBe(401);
    expect((await relay.post(notification('cdp_1', { event_id: 'cev_guess' }))).status).toBe(200);
    expect(await stored()).toHaveLength(1);
  });

  it.each([
    ['an unknown path', '/hooks/custody/other', 'POST', 404],
    ['no path', '/', 'POST', 404],
    ['a path that goes up', '/hooks/custody/main-live/../main-test', 'POST', 401],
    ['GET', '/hooks/custody/main-live', 'GET', 405],
    ['HEAD', '/hooks/custody/main-live', 'HEAD', 405],
    ['DELETE', '/hooks/custody/main-live', 'DELETE', 405],
  ])('(%s) is answered %s', async (_name, path, method, status) => {
    const answer = await relay.post(notification('cdp_1'), { path, method });
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.headers.get('allow')).toBe('POST');
    expect(await stored()).toEqual([]);
  });

  it('is answered with its Request-Id, or one of ours, and is kept by no cache', async () => {
    const known = await relay.post(notification('cdp_1'), { headers: { 'request-id': 'their-7' } });
    const forged = await relay.post('{}', { headers: { 'request-id': 'not one', 'x-custody-signature': 't=1,v1=00' } });
    expect([known.status, known.headers.get('request-id')]).toEqual([200, 'their-7']);
    expect([forged.status, forged.headers.get('request-id')]).toEqual([401, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    for (const { headers } of [known, forged]) {
      expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    }
  });
});

it('during a rotation two secrets are taken, and after it only the new one', async () => {
  const [fresh, old] = ['new'.padEnd(32, 'n'), 'old'.padEnd(32, 'o')];
  const rotating = await openTestRelay(database, { secrets: [fresh, old] });
  const rotated = await openTestRelay(database, { secrets: [fresh] });
  try {
    const statusOf = async (on: TestRelay, secret: string) => (await on.post(notification('cdp_1'), { secret })).status;
    expect([await statusOf(rotating, fresh), await statusOf(rotating, old)]).toEqual([200, 200]);
    expect([await statusOf(rotated, fresh), await statusOf(rotated, old)]).toEqual([200, 401]);
  } finally {
    await rotating.close();
    await rotated.close();
  }
});

it('a short, an empty or no secret refuses to start, and names the setting but not the secret', () => {
  const start = (secrets: string) => () =>
    loadConfig({
      DATABASE_URL: 'postgres://localhost/x',
      SVERKA_LIVE_CUSTODY_URL: 'http://127.0.0.1:9',
      SVERKA_LIVE_CUSTODY_API_KEY: 'k',
      SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: secrets,
    });
  expect(start('s'.repeat(32))).not.toThrow();
  for (const secrets of ['', 'shhh', 's'.repeat(31), `${'s'.repeat(32)},shhh`]) {
    expect(start(secrets)).toThrow(/SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS/);
    expect(start(secrets)).not.toThrow(/shhh|sssss/);
  }
});

it('more than the limit of an endpoint in one second is 429, and another endpoint is not touched', async () => {
  const slow = await openTestRelay(database, { rateLimit: 2 });
  try {
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await slow.post(notification('cdp_1'))).status),
    );
    expect(statuses).toContain(429);
    expect(statuses).toContain(200);
    const other = await slow.post(notification('cdp_1'), {
      path: '/hooks/custody/main-test',
      secret: `t${TEST_SECRET}`,
    });
    expect(other.status).toBe(200);
  } finally {
    await slow.close();
  }
});

describe('a database that fails', () => {
  const dying = `
    create function public.die() returns trigger language plpgsql security definer as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
    create constraint trigger die after insert on sverka.inbox deferrable initially deferred
      for each row execute function public.die()`;

  it('at COMMIT is 503 with nothing stored, and the same notification is whole when it comes again', async () => {
    await owner.query(dying);
    const body = notification('cdp_1');
    const answers = await Promise.all([relay.post(body), relay.post(notification('cdp_2'))]);
    expect(answers.map((answer) => [answer.status, answer.headers.get('retry-after')])).toEqual(
      [
        ['503', '5'],
        ['503', '5'],
      ].map(([s, r]) => [Number(s), r]),
    );
    expect(answers[0]?.text).not.toMatch(/terminat|SQL|57P01|postgres/i);
    expect([await stored(), relay.nudges, relay.counts.failed]).toEqual([[], [], 2]);
    await owner.query('drop trigger die on sverka.inbox; drop function public.die()');
    expect((await relay.post(body)).status).toBe(200);
    expect(await stored()).toMatchObject([{ body: Buffer.from(body), status: 'pending' }]);
  });

  it('with a lock that is not given in time is 503 too', async () => {
    const gate = await owner.connect();
    await gate.query('begin; lock table sverka.inbox in access exclusive mode');
    expect((await relay.post(notification('cdp_1'))).status).toBe(503);
    await gate.query('rollback');
    gate.release();
    expect((await relay.post(notification('cdp_1'))).status).toBe(200);
  });
});

/** Posts without a length, as chunks. */
function chunked(body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-custody-signature': signatureOf(body), 'transfer-encoding': 'chunked' };
    const sent = request(`${relay.url}/hooks/custody/main-live`, { method: 'POST', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    for (let at = 0; at < body.length; at += 65_536) sent.write(body.slice(at, at + 65_536));
    sent.end();
  });
}
