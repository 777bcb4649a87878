import { once } from 'node:events';
import { connect } from 'node:net';
import { acceptDeliveries, type Delivery } from '../../src/db/inbox.js';
import { queriesOf } from '../../src/db/transaction.js';
import { createBatcher } from '../../src/http/relay/batcher.js';
import { deliveryOf, notification, signatureOf } from '../support/deposit-deliveries.js';
import { expectDepositInvariants, expectNothingComesOf, inboxOf, openAlerts } from '../support/deposit-facts.js';
import { openTestRelay, type TestRelay } from '../support/deposit-relay.js';
import { type DepositWorld, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { eventually, TEST_SECRET } from '../support/simulated-custody.js';
import { openTcpProxy } from '../support/tcp-proxy.js';

const OLD_SECRET = 'old-secret-of-thirty-two-characters!';
let world: DepositWorld;
let relay: TestRelay;

beforeAll(async () => {
  world = await openDepositWorld({ env: { SVERKA_SWEEP_GRACE: '1ms', SVERKA_UNMATCHED_ALERT_AGE: '1h' } });
  relay = await openTestRelay(world.database, { secrets: [TEST_SECRET, OLD_SECRET] });
});
beforeEach(async () => {
  await world.owner.query('delete from sverka.inbox_conflict; delete from sverka.inbox; delete from sverka.alert');
  Object.assign(relay.counts, { rejected: 0, failed: 0 });
  relay.clock.aheadMs = 0;
  relay.nudges.length = 0;
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await relay.close();
  await world.close();
});

const bodies = async () =>
  (await world.owner.query<{ body: Buffer }>('select body from sverka.inbox order by id')).rows.map((row) => row.body);
const parked = async () => (await inboxOf(world.owner)).map(({ status, reason }) => `${status} ${reason}`);
const relayDb = () => queriesOf(relay.pool);

describe('signed bytes that are no notification', () => {
  const sound = (more = '') => `{"event_id":"e","type":"deposit.changed","object_id":"cdp_1"${more}}`;
  const cases: [string, Buffer, string][] = [
    ['cut off in the middle', Buffer.from(sound().slice(0, 30)), 'not_json'],
    ['behind a byte order mark', Buffer.from(`\ufeff${sound()}`), 'byte_order_mark'],
    ['in UTF-16', Buffer.from(sound(), 'utf16le'), 'not_json'],
    ['with a byte that is no UTF-8', Buffer.concat([Buffer.from(sound()), Buffer.from([0xff])]), 'not_utf8'],
    ['followed by garbage', Buffer.from(`${sound()} x`), 'not_json'],
    ['of a form', Buffer.from('event_id=e&object_id=cdp_1'), 'not_json'],
    ['empty', Buffer.alloc(0), 'not_json'],
    ['nested half a million deep', Buffer.from(sound(`,"a":${'['.repeat(500_000)}`)), 'too_deep'],
    ['nested deep and closed', Buffer.from(sound(`,"a":${'['.repeat(9_000)}${']'.repeat(9_000)}`)), 'too_deep'],
  ];
  it.each(cases)('%s: 200, kept to the byte for a person, and nothing is tried again [CASES B08]', async (...of) => {
    const [, body, reason] = of;
    const answers = [await relay.post(body), await relay.post(body)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await bodies()).toEqual([body]);
    expect(await parked()).toEqual([`parked ${reason}`]);
    await world.sweep();
    expect([relay.nudges, world.nudges]).toEqual([[], []]);
  });

  it('a __proto__ member is parked, and the next notification is as if it never came [CASES B10]', async () => {
    const evil = '{"__proto__":{"event_id":"evil","object_id":"cdp_evil","type":"deposit.changed"},"event_id":"e1"}';
    expect((await relay.post(evil)).status).toBe(200);
    expect((await relay.post(notification('cdp_next', { event_id: 'e2' }))).status).toBe(200);
    expect((await relay.post('{}')).status).toBe(200);
    expect(await inboxOf(world.owner, `delivery_id in ('evil', 'e2')`)).toMatchObject([{ ref: 'cdp_next' }]);
    expect(new Set(await parked())).toEqual(new Set(['parked no_event_id', 'parked proto_member', 'pending null']));
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('10 MB are refused by their length or on the way, and cost no memory of the relay', async () => {
    const body = Buffer.alloc(10 * 1024 * 1024, ' ');
    expect((await relay.post(body).catch(() => ({ status: 413 }))).status).toBe(413);
    // A sender that promises 10 MB and sends none is answered at once.
    const head = rawRequest(signatureOf('x'), [`Content-Length: ${body.length}`]);
    expect(await rawStatus(head)).toBe(413);
    expect(await bodies()).toEqual([]);
    expect((await relay.post(notification('cdp_after'))).status).toBe(200);
  });

  it('the bytes are signed as they came, odd spacing, escapes and numbers and all [CASES B01]', async () => {
    const body =
      '{ "amount": 10.00, "event_id":"e\\u0031","a":1e2,\n\t"type":"deposit.changed","object_id":"cdp_\\u0041" }';
    expect((await relay.post(body)).status).toBe(200);
    expect(await bodies()).toEqual([Buffer.from(body)]);
    expect(await inboxOf(world.owner)).toMatchObject([{ delivery: 'e1', ref: 'cdp_A' }]);
  });
});

describe('a signature header', () => {
  const body = '{"event_id":"e","type":"deposit.changed","object_id":"cdp_1"}';
  const seconds = () => Math.floor(Date.now() / 1_000);
  const digest = (secret = TEST_SECRET) => signatureOf(body, { secret }).replace(/^t=[0-9]+,v1=/, '');
  const bad = 'ab'.repeat(32);
  const posted = async (header: string) => rawStatus(rawRequest(header, [`Content-Length: ${body.length}`], body));

  it.each([
    ['nothing', ''],
    ['a word', 'abc'],
    ['no signature', 't=TIME,v1='],
    ['three letters', 't=TIME,v1=abc'],
    ['63 digits', `t=TIME,v1=${bad.slice(1)}`],
    ['65 digits', `t=TIME,v1=${bad}a`],
    ['64 letters of several bytes', `t=TIME,v1=${'é'.repeat(64)}`],
    ['pairs that are no hex', `t=TIME,v1=${'zz'.repeat(32)}`],
    ['a stranger’s digest', `t=TIME,v1=${bad}`],
    ['an old scheme alone', 't=TIME,v0=GOOD'],
    ['an unknown scheme alone', 't=TIME,v2=GOOD'],
    ['a scheme in capitals', 't=TIME,V1=GOOD'],
    ['no time', 'v1=GOOD'],
    ['two times', 't=TIME,t=TIME,v1=GOOD'],
    ['no number for a time', 't=NaN,v1=GOOD'],
    ['an exponent for a time', 't=1e3,v1=GOOD'],
    ['a blank for a time', 't= ,v1=GOOD'],
    ['a good one among forty', `t=TIME,${`v1=${bad},`.repeat(40)}v1=GOOD`],
  ])('of %s is 401: no 500, no stack, nothing kept [CASES B05]', async (_name, template) => {
    const header = template.replaceAll('TIME', String(seconds())).replaceAll('GOOD', digest());
    const answer = await rawAnswer(rawRequest(header, [`Content-Length: ${body.length}`], body));
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).not.toMatch(/\bat .*\.(ts|js):|stack|secret/i);
    expect([await bodies(), relay.counts]).toEqual([[], { rejected: 1, failed: 0 }]);
  });

  it('with several signatures is good when any of them is, under the old secret or the new [CASES B03]', async () => {
    for (const secret of [TEST_SECRET, OLD_SECRET]) {
      for (const pair of [`v1=${bad},v1=GOOD`, `v1=GOOD,v1=${bad}`, `v0=${bad},v1=GOOD`]) {
        const good = signatureOf(body, { secret });
        const [time, scheme] = good.split(',');
        expect(await posted(`${time},${pair.replace('v1=GOOD', scheme ?? '')}`)).toBe(200);
      }
    }
    expect(await bodies()).toHaveLength(1);
  });

  it('twice is one header to nobody: 401', async () => {
    const header = signatureOf(body);
    const twice = rawRequest(header, [`X-Custody-Signature: ${header}`, `Content-Length: ${body.length}`], body);
    expect(await rawStatus(twice)).toBe(401);
  });

  it('is judged by the clock at receipt, both ways, and by none later [CASES B04]', async () => {
    const at = await world.address({ customerRef: 'fresh' });
    const ref = await world.arrive(at, { amount: '5' });
    const text = notification(ref);
    const signature = signatureOf(text);
    const statusAt = async (aheadMs: number) => {
      relay.clock.aheadMs = aheadMs;
      return (await relay.post(text, { headers: { 'x-custody-signature': signature } })).status;
    };
    expect([await statusAt(302_000), await statusAt(-302_000), await statusAt(3_600_000)]).toEqual([401, 401, 401]);
    expect(await bodies()).toEqual([]);
    expect([await statusAt(295_000), await statusAt(-295_000)]).toEqual([200, 200]);
    // Nobody came for it for twenty minutes.
    await world.owner.query(`update sverka.inbox set received_at = received_at - interval '20 minutes'`);
    await world.sweep();
    expect(world.nudges).toMatchObject([{ ref }]);
    await world.read(ref);
    expect(await walletOf(world, at)).toBe('5.000000');
  });
});

describe('a batch of a hundred', () => {
  const batcher = () =>
    createBatcher((batch: readonly Delivery[]) => acceptDeliveries(relayDb(), batch), {
      isOutage: () => false,
      lanes: 1,
    });

  it('with a poison row stores the other 99, and says so of each [CASES A14]', async () => {
    const poison = deliveryOf('cdp_37', { deliveryId: 'poison' });
    await world.owner.query(
      `create function public.poison() returns trigger language plpgsql as $$ begin
         if new.delivery_id = 'poison' then raise check_violation using message = 'poison'; end if; return new; end $$;
       create trigger poison before insert on sverka.inbox for each row execute function public.poison()`,
    );
    const accept = batcher();
    const batch = Array.from({ length: 100 }, (_, n) => (n === 37 ? poison : deliveryOf(`cdp_${n}`)));
    const outcomes = await Promise.allSettled(batch.map((each) => accept(each)));
    await world.owner.query('drop trigger poison on sverka.inbox; drop function public.poison()');
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(99);
    expect(outcomes[37]).toMatchObject({ status: 'rejected' });
    expect(await bodies()).toHaveLength(99);
    expect(await accept(poison)).toBe('stored');
  });

  it('with one id and two bodies keeps the first, and of the second that it is another [CASES J01]', async () => {
    const first = deliveryOf('cdp_a', { deliveryId: 'same' });
    const second = deliveryOf('cdp_b', { deliveryId: 'same' });
    const accept = batcher();
    const batch = [first, ...Array.from({ length: 97 }, (_, n) => deliveryOf(`cdp_${n}`)), second, first];
    const outcomes = await Promise.all(batch.map((each) => accept(each)));
    expect([outcomes[0], outcomes[98], outcomes[99]]).toEqual(['stored', 'conflict', 'duplicate']);
    expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(98);
    const { rows } = await world.owner.query('select body from sverka.inbox_conflict');
    expect(rows).toEqual([{ body: second.body }]);
    expect(await openAlerts(world.owner)).toEqual(['inbox_conflict inbox_conflict:custody:main-live']);
  });
});

describe('a COMMIT of the inbox row whose answer is lost', () => {
  it('is 503 although the row is there, and the redelivery is whole [CASES A12]', async () => {
    const proxy = await openTcpProxy(world.database.urlFor('relay'));
    const cut = await openTestRelay(world.database, { databaseUrl: proxy.url });
    try {
      const at = await world.address({ customerRef: 'ambiguous' });
      const ref = await world.arrive(at, { amount: '5' });
      const body = notification(ref);
      // A connection that is open already, so that what is cut is the answer to the row and not to a login.
      expect((await cut.post(notification('cdp_before'))).status).toBe(200);
      proxy.cutBeforeTheNextAnswer();
      expect((await cut.post(body)).status).toBe(503);
      await eventually(async () => (await inboxOf(world.owner, `subject_ref = '${ref}'`)).length === 1);
      expect((await cut.post(body)).status).toBe(200);
      expect(await inboxOf(world.owner, `subject_ref = '${ref}'`)).toHaveLength(1);
      expect(cut.nudges.filter((each) => each === ref)).toHaveLength(1);
      await world.read(ref);
      await expectNothingComesOf(world, () => world.read(ref));
      expect(await walletOf(world, at)).toBe('5.000000');
    } finally {
      await cut.close();
      await proxy.close();
    }
  });
});

/** A request as bytes: HTTP clients refuse to send half of these. */
function rawRequest(signature: string, headers: readonly string[], body = ''): Buffer {
  const lines = ['POST /hooks/custody/main-live HTTP/1.1', 'Host: x', `X-Custody-Signature: ${signature}`, ...headers];
  return Buffer.from(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);
}

async function rawAnswer(bytes: Buffer): Promise<string> {
  const socket = connect(Number(new URL(relay.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  socket.write(bytes);
  await eventually(() => answer.includes('\r\n\r\n') || socket.closed);
  socket.destroy();
  if (!socket.closed) await once(socket, 'close');
  return answer;
}

async function rawStatus(bytes: Buffer): Promise<number> {
  return Number((await rawAnswer(bytes)).split(' ')[1]);
}
