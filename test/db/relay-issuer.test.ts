import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import type { SealBody } from '../../src/http/relay/endpoints.js';
import { openBytes, sealBytes } from '../../src/providers/keys/seal-bytes.js';
import { signatureOf } from '../support/deposit-deliveries.js';
import { openTestRelay, type TestRelay } from '../support/deposit-relay.js';
import { CANARY_CARD } from '../support/deposit-world.js';
import { memoryKeys } from '../support/memory-keys.js';
import { eventually, TEST_SECRET } from '../support/simulated-custody.js';
import { cardRequest, declinedRequest, startSimulatedIssuer } from '../support/simulated-issuer.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const keys = memoryKeys('kek_1');
const seal: SealBody = (body, place) => sealBytes(keys.publicKey('kek_1'), body, place);

let database: TestDatabase;
let owner: pg.Pool;
let relay: TestRelay;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  relay = await openTestRelay(database, { seal });
});
beforeEach(async () => {
  await owner.query('delete from sverka.inbox_conflict; delete from sverka.inbox; delete from sverka.alert');
  relay.nudges.length = 0;
  relay.counts.failed = 0;
});
afterAll(async () => {
  await relay.close();
  await owner.end();
  await database.close();
});

let events = 0;
function event(changes: Record<string, unknown> = {}): string {
  events += 1;
  return JSON.stringify({
    ...{ event_id: `iev_${events}`, type: 'card.issued', card_id: 'icd_1', authorization_id: null, reference: 'iss_1' },
    ...{ amount: null, asset: null, merchant: null, local: null, occurred_at: '2026-11-29T10:15:30Z' },
    ...changes,
  });
}

function post(body: string, how: { on?: TestRelay; secret?: string; header?: string } = {}) {
  const { on = relay, secret = TEST_SECRET, header = 'x-issuer-signature' } = how;
  return on.post(body, { path: '/hooks/issuer/main-live', headers: { [header]: signatureOf(body, { secret }) } });
}

const stored = async () => {
  const { rows } = await owner.query<Record<string, string | null> & { body: Buffer }>(
    `select delivery_id, book, event_type, subject_type, subject_ref, status, reason, body from sverka.inbox order by id`,
  );
  return rows;
};

describe('a notification of the issuer', () => {
  it.each([
    ['by our reference', {}, 'iss_1'],
    ["by the issuer's own id", { reference: null }, 'icd_1'],
  ])('names its card %s, is stored and nudges', async (_, changes, ref) => {
    const body = event(changes);
    expect((await post(body)).status).toBe(200);
    expect(await stored()).toMatchObject([
      { book: 'live', event_type: 'card.issued', subject_type: 'card', subject_ref: ref, status: 'pending' },
    ]);
    expect(relay.nudges).toEqual([ref]);
    expect((await post(body)).status).toBe(200);
    expect(await stored()).toHaveLength(1);
  });

  it.each([
    ['of spending, which nobody follows yet', { type: 'authorization.approved' }, 'unknown_subject'],
    ['of a type that nobody knows', { type: 'card.issuedd' }, 'unknown_type'],
    ['without a card', { reference: null, card_id: null }, 'no_card_id'],
    ['whose reference is a card number', { reference: CANARY_CARD }, 'card_data'],
  ])('%s is parked and nudges nobody', async (_, changes, reason) => {
    expect((await post(event(changes))).status).toBe(200);
    expect(await stored()).toMatchObject([{ status: 'parked', reason, subject_ref: null }]);
    expect(relay.nudges).toEqual([]);
  });

  it.each([
    ['another secret', { secret: `not ${TEST_SECRET}` }],
    ['the secret of the other book', { secret: `t${TEST_SECRET}` }],
    ['the header of another provider', { header: 'x-custody-signature' }],
  ])('under %s is 401 and not stored', async (_, how) => {
    expect((await post(event(), how)).status).toBe(401);
    expect(await stored()).toEqual([]);
  });
});

it('what the simulated issuer sends is taken, each by our reference', async () => {
  const issuer = await startSimulatedIssuer({ hookUrl: `${relay.url}/hooks/issuer/main-live` });
  const { id } = await issuer.live.createCard(cardRequest('iss_1'));
  await issuer.live.createCard(declinedRequest('iss_2'));
  await issuer.live.createFreeze(id);
  await eventually(() => relay.nudges.length === 3);
  const named = (await stored()).map(({ event_type, subject_ref }) => `${event_type} ${subject_ref}`);
  expect(named.toSorted()).toEqual(['card.changed iss_1', 'card.declined iss_2', 'card.issued iss_1']);
  expect(relay.nudges.toSorted()).toEqual(['iss_1', 'iss_1', 'iss_2']);
  await issuer.close();
});

describe('the body of a notification of the issuer [CASES N01]', () => {
  const canaries = { pan: CANARY_CARD, cvv: '987', holder: 'Canaryfirst' };

  /** What the database holds of it in any column, as text. */
  async function dump(): Promise<string> {
    const { rows } = await owner.query<{ row: string }>(
      `select i::text || encode(body, 'escape') as row from sverka.inbox i`,
    );
    return rows.map(({ row }) => row).join('\n');
  }

  it('is stored masked and sealed for its own place, and its hash is that of the bytes as they came', async () => {
    const body = event(canaries);
    expect((await post(body)).status).toBe(200);
    const [row] = await stored();
    expect(await dump()).not.toMatch(new RegExp(`${CANARY_CARD}|Canaryfirst|"cvv"`));
    const sealed = row?.body ?? Buffer.of();
    const place = { table: 'inbox', row: `issuer/main-live/${row?.delivery_id}`, column: 'body' };
    const opened = String(await openBytes(keys, sealed, place));
    expect(opened).toContain('Canaryfirst');
    expect(opened).not.toMatch(new RegExp(`${CANARY_CARD}|987`));
    const elsewhere = { ...place, row: 'issuer/main-live/iev_0' };
    await expect(openBytes(keys, sealed, elsewhere)).rejects.toMatchObject({ kind: 'not_opened' });
    const { rows } = await owner.query('select body_hash = sha256($1) as same from sverka.inbox', [Buffer.from(body)]);
    expect(rows).toEqual([{ same: true }]);
  });

  it('would be found by this look if it were stored as it came', async () => {
    const open = await openTestRelay(database, { seal: (body) => body });
    expect((await post(event(canaries), { on: open })).status).toBe(200);
    expect(await dump()).toMatch(/Canaryfirst/);
    await open.close();
  });

  it('that cannot be sealed is 503 and not stored, and is taken when it can', async () => {
    let isBroken = true;
    const keyless = await openTestRelay(database, {
      seal: (...of) => {
        if (isBroken) throw new Error('no key');
        return seal(...of);
      },
    });
    const body = event(canaries);
    const answer = await post(body, { on: keyless });
    expect([answer.status, answer.headers.get('retry-after'), keyless.counts.failed]).toEqual([503, '5', 1]);
    expect(answer.text).not.toMatch(/key/);
    expect(await stored()).toEqual([]);
    isBroken = false;
    expect((await post(body, { on: keyless })).status).toBe(200);
    expect(keyless.nudges).toEqual(['iss_1']);
    await keyless.close();
  });

  it('is not kept at all where there is nothing to seal it with', async () => {
    const bare = await openTestRelay(database);
    expect((await post(event(canaries), { on: bare })).status).toBe(200);
    expect((await stored()).map(({ body }) => body.length)).toEqual([0]);
    await bare.close();
  });
});
