import { type CardWorld, type IssuedCard, openCardWorld } from '../support/card-world.js';
import { makeMerchant } from '../support/gateway.js';
import { expectMoneyInvariants, expectNothingChanges } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import type { RunningWorker } from '../support/worker-world.js';

let it: CardWorld;
let worker: RunningWorker;
beforeAll(async () => {
  it = await openCardWorld({ settings: { SVERKA_UNKNOWN_ALERT_LOOKS: '2' } });
  worker = await it.world.startWorker();
});
afterAll(async () => {
  await worker.stop();
  await it.close();
});
afterEach(async () => {
  await it.calm();
  await expectMoneyInvariants(it.world.owner, 'any');
});

async function loadOf(id: string) {
  return (await it.gateway.get(it.merchant, `/v1/loads/${id}`)).body;
}

async function until(id: string, state: string): Promise<void> {
  await eventually(async () => (await loadOf(id))['state'] === state);
}

describe('a load', () => {
  let card: IssuedCard;
  beforeAll(async () => {
    card = await it.issued('loads');
  });

  test('is on the card once, costs nothing, and shows on card, wallet and list', async () => {
    const [before, version] = [await it.available(), (await it.card(card.id)).version];
    const answer = await it.load(card, 'first', { prefer: 'wait=10' });
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `/v1/loads/${answer.body.id}`]);
    expect(answer.body).toMatchObject({
      object: 'load',
      state: 'completed',
      version: 3,
      reason: null,
      card_id: card.id,
      amount: { amount: '10.00', asset: 'USD' },
      fee: { amount: '0.00', asset: 'USD' },
    });
    expect(answer.body['movement_ids']).toHaveLength(2);
    expect(before - (await it.available())).toBe(1_000n);
    const now = await it.card(card.id);
    expect([now.loaded.amount, now.version]).toEqual(['35.00', version + 1]);
    expect(await it.loadsMade(answer.body.id)).toBe(1);
    expect(await it.movementsOf(answer.body.id)).toEqual(['load_hold', 'load_settle']);
    expect(await it.eventsOf(answer.body.id)).toEqual(['load.completed']);
    const list = await it.gateway.get(it.merchant, `/v1/cards/${card.id}/loads`);
    expect(list.body['data']).toEqual([answer.body]);
    await expectNothingChanges(it.world.owner, async () => {
      const again = await it.load(card, 'first', { amount: '10' });
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      expect(again.body).toEqual(answer.body);
    });
    expect((await it.load(card, 'first', { amount: '11' })).body['code']).toBe('idempotency_key_reused');
  });

  test.each(['lost_answer', 'timeout_before', 'timeout_after', 'garbage'])(
    'whose answer met %s is sent again under its reference, and is on the card once',
    async (kind) => {
      const before = await it.onCard(card.id);
      await it.fault(card, 'loads', { fault: kind, times: 1 });
      const { body, status } = await it.load(card, `met-${kind}`, { prefer: 'wait=0' });
      expect(status).toBe(202);
      await until(body.id, 'completed');
      expect([await it.loadsMade(body.id), (await it.onCard(card.id)) - before]).toEqual([1, 1_000n]);
      const { rows } = await it.world.owner.query(
        'select to_state from sverka.audit where subject_id = $1 order by id',
        [body.id],
      );
      expect(rows.map((row) => row.to_state)).toEqual(['reserved', 'submitted', 'unknown', 'completed']);
    },
  );

  test.each([
    ['503 with nothing done', { fault: 'status', status: 503, times: 1 }, 1_000n],
    ['429', { fault: 'status', status: 429, retry_after: 1, times: 1 }, 1_000n],
    ['401, mended by a person', { fault: 'status', status: 401, times: 2 }, 1_000n],
  ])('that was answered %s goes on by itself', async (_, fault, cents) => {
    const before = await it.onCard(card.id);
    await it.fault(card, 'loads', fault);
    const { body } = await it.load(card, `answered-${fault.status}`, { prefer: 'wait=0' });
    await until(body.id, 'completed');
    expect([await it.loadsMade(body.id), (await it.onCard(card.id)) - before]).toEqual([1, cents]);
    expect(await it.alertsOf(body.id)).toEqual([]);
  });

  test.each([400, 422])(
    'refused by the issuer with %s fails, is released, and is 402 with its place',
    async (status) => {
      const before = await it.available();
      await it.fault(card, 'loads', { fault: 'status', status, times: 1 });
      const answer = await it.load(card, `refused-${status}`);
      expect([answer.status, answer.body['code']]).toEqual([402, 'issuer_declined']);
      const id = (answer.headers.get('location') ?? '').replace('/v1/loads/', '');
      expect(await loadOf(id)).toMatchObject({ state: 'failed', reason: 'issuer_declined' });
      expect([await it.available(), await it.loadsMade(id)]).toEqual([before, 0]);
      expect(await it.movementsOf(id)).toEqual(['load_hold', 'load_release']);
      expect(await it.eventsOf(id)).toEqual(['load.failed']);
      const again = await it.load(card, `refused-${status}`);
      expect([again.status, again.headers.get('location')]).toEqual([402, `/v1/loads/${id}`]);
    },
  );

  test('that never gets an answer waits for a person, with its money held, and ends when one comes', async () => {
    await it.fault(card, 'loads', { fault: 'timeout_after', times: 3 });
    const { body } = await it.load(card, 'silent', { prefer: 'wait=0' });
    await eventually(async () => (await it.alertsOf(body.id)).includes('outcome_unknown'));
    expect((await loadOf(body.id))['state']).toBe('unknown');
    await until(body.id, 'completed');
    expect([await it.loadsMade(body.id), await it.alertsOf(body.id)]).toEqual([1, []]);
  });

  test('under one key from twenty callers at once is one', async () => {
    const before = await it.onCard(card.id);
    const answers = await Promise.all(Array.from({ length: 20 }, () => it.load(card, 'twenty')));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect((await it.onCard(card.id)) - before).toBe(1_000n);
    expect(await it.loadsMade(answers[0]?.body.id ?? '')).toBe(1);
  });

  test.each([
    [{ amount: { amount: '0', asset: 'USD' } }, '/amount/amount'],
    [{ amount: { amount: '1.001', asset: 'USD' } }, '/amount/amount'],
    [{ amount: { amount: '1', asset: 'EUR' } }, '/amount/asset'],
    [{ amount: { amount: 1, asset: 'USD' } }, '/amount/amount'],
    [{}, '/amount'],
  ])('of %j is refused, and its key stays free', async (body, pointer) => {
    const path = `/v1/cards/${card.id}/loads`;
    const answer = await it.gateway.post(it.merchant, path, { key: 'bad-body', body });
    expect([answer.status, answer.body['code'], answer.body['errors']]).toEqual([
      400,
      'validation',
      [expect.objectContaining({ pointer })],
    ]);
  });

  test('of a card that is not the caller’s is 404, like one that never was', async () => {
    const other = await makeMerchant(it.world.tx);
    const body = { amount: { amount: '1', asset: 'USD' } };
    for (const id of [card.id, `card_${'0'.repeat(26)}`, 'nonsense']) {
      const answer = await it.gateway.post(other, `/v1/cards/${id}/loads`, { key: 'theirs', body });
      expect([answer.status, answer.body['code']]).toEqual([404, 'not_found']);
      expect((await it.gateway.get(other, `/v1/cards/${id}/loads`)).status).toBe(404);
    }
  });
});

describe('what a wallet does not cover', () => {
  test('is refused for ever under its key, told once, and moves nothing', async () => {
    const card = await it.issued('dear');
    const answer = await it.load(card, 'dear-load', { amount: '90000' });
    expect([answer.status, answer.body['code']]).toEqual([402, 'insufficient_funds']);
    await expectNothingChanges(it.world.owner, async () => {
      expect((await it.load(card, 'dear-load', { amount: '90000' })).headers.get('idempotent-replayed')).toBe('true');
    });
    const { rows } = await it.world.owner.query(
      `select data from sverka.event where type = 'wallet.insufficient_funds'
         and data -> 'amount' ->> 'amount' = '90000.00'`,
    );
    expect(rows).toHaveLength(1);
  });

  test('is taken by one of two loads for the last cent', async () => {
    const card = await it.issued('last-cent');
    const cents = await it.available();
    const amount = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
    const answers = await Promise.all([it.load(card, 'last-1', { amount }), it.load(card, 'last-2', { amount })]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 402]);
    expect([await it.available(), (await it.onCard(card.id)) - 2_500n]).toEqual([0n, cents]);
    expect((await it.change(card, 'close', { key: 'last-close' })).status).toBe(200);
    expect(await it.available()).toBe(cents + 2_500n);
  });
});
