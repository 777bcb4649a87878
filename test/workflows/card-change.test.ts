import { createAttempts } from '../../src/activities/attempts.js';
import { restartCardChanges } from '../../src/activities/restart-stranded.js';
import type { CardResource } from '../../src/contracts/card.js';
import { type CardWorld, openCardWorld } from '../support/card-world.js';
import { expectMoneyInvariants, expectNothingChanges } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import type { RunningWorker } from '../support/worker-world.js';

let it: CardWorld;
let worker: RunningWorker;
beforeAll(async () => {
  it = await openCardWorld({ settings: { SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX: '500ms' } });
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

/** The card without what any read of it changes: a notification about its making may come at any time. */
function unread(shown: object): object {
  const { provider_status: _, provider_read_at: __, updated_at: ___, issuance, ...card } = shown as CardResource;
  return { ...card, issuance: { ...issuance, last_read_at: null } };
}

describe('freezing a card', () => {
  test('is true here and at the issuer, told once, and undone by unfreezing', async () => {
    const card = await it.issued('freeze');
    const before = await it.card(card.id);
    const frozen = await it.change(card, 'freeze', { key: 'f-1', prefer: 'wait=10' });
    expect([frozen.status, frozen.body['state'], frozen.body['version']]).toEqual([200, 'frozen', before.version + 1]);
    expect(await it.statusAt(card)).toBe('frozen');
    expect(unread(frozen.body)).toEqual(unread(await it.card(card.id)));
    const { rows } = await it.world.owner.query(
      `select data from sverka.event where type = 'card.frozen' and subject_id = $1`,
      [card.id],
    );
    expect(rows.map(({ data }) => unread(data))).toEqual([unread(frozen.body)]);
    expect(Object.keys(rows[0]?.data).toSorted()).toEqual(Object.keys(frozen.body).toSorted());

    expect((await it.load(card, 'f-load')).body['code']).toBe('card_frozen');
    await expectNothingChanges(it.world.owner, async () => {
      const replay = await it.change(card, 'freeze', { key: 'f-1' });
      expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    });
    expect((await it.change(card, 'freeze', { key: 'f-2' })).status).toBe(200);
    expect(await it.changesOf(card.id)).toEqual(['freeze confirmed']);

    const active = await it.change(card, 'unfreeze', { key: 'f-3', prefer: 'wait=10' });
    expect([active.status, active.body['state'], await it.statusAt(card)]).toEqual([200, 'active', 'active']);
    expect(await it.eventsOf(card.id)).toEqual(['card.active', 'card.frozen', 'card.unfrozen']);
    const refused = await it.load(card, 'f-load');
    expect([refused.status, refused.headers.get('idempotent-replayed')]).toEqual([409, 'true']);
    expect((await it.load(card, 'f-load-2', { prefer: 'wait=10' })).status).toBe(201);
  });

  test('whose answers are lost is true here at once, 202, and told again until it is confirmed', async () => {
    const card = await it.issued('freeze-lost');
    await it.fault(card, 'freeze', { fault: 'lost_answer', times: 2 });
    const answer = await it.change(card, 'freeze', { key: 'lost', prefer: 'respond-async' });
    expect([answer.status, answer.body['state'], answer.headers.get('retry-after')]).toEqual([202, 'frozen', '1']);
    expect(answer.headers.get('location')).toBe(`/v1/cards/${card.id}`);
    await it.settled(card.id);
    expect((await it.change(card, 'freeze', { key: 'lost' })).status).toBe(200);
    expect(await it.eventsOf(card.id)).toEqual(['card.active', 'card.frozen']);
  });

  test('under one key from twenty callers at once is one change', async () => {
    const card = await it.issued('freeze-twenty');
    const twenty = Array.from({ length: 20 }, () => it.change(card, 'freeze', { key: 'twenty', prefer: 'wait=10' }));
    expect(new Set((await Promise.all(twenty)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(await it.changesOf(card.id)).toEqual(['freeze confirmed']);
    expect(await it.eventsOf(card.id)).toEqual(['card.active', 'card.frozen']);
  });

  test('from many callers with keys of their own, in both directions, ends as the last one here', async () => {
    const card = await it.issued('freeze-many');
    const calls = Array.from({ length: 12 }, (_, n) =>
      it.change(card, n % 2 === 0 ? 'freeze' : 'unfreeze', { key: `many-${n}`, prefer: 'respond-async' }),
    );
    for (const { status } of await Promise.all(calls)) expect([200, 202]).toContain(status);
    await it.settled(card.id);
    const { state } = await it.card(card.id);
    expect(await it.statusAt(card)).toBe(state);
  });

  test('that no workflow was begun for is told by the sweep', async () => {
    const card = await it.issued('freeze-stranded');
    await it.world.owner.query(
      `select sverka.request_card_change($1, 'live', $2, 'freeze', 2, '{}', $3, 'stranded', 'POST', '/', $4, null)`,
      [card.id, it.merchant.id, `req_${'0'.repeat(26)}`, Buffer.alloc(32)],
    );
    expect([await it.statusAt(card), await it.changesOf(card.id)]).toEqual(['active', ['freeze open']]);
    const { deps, tx } = it.world;
    await eventually(async () => {
      await restartCardChanges(deps, tx, createAttempts(deps));
      return (await it.changesOf(card.id))[0] === 'freeze confirmed';
    });
    expect(await it.statusAt(card)).toBe('frozen');
  });

  test('that the issuer refuses is for a person, and a newer change takes its place', async () => {
    const card = await it.issued('freeze-refused');
    await it.fault(card, 'freeze', { fault: 'status', status: 409, times: 2 });
    const answer = await it.change(card, 'freeze', { key: 'refused', prefer: 'respond-async' });
    expect([answer.status, answer.body['state']]).toEqual([202, 'frozen']);
    await eventually(async () => (await it.alertsOf(card.id)).includes('card_change_refused'));
    expect((await it.card(card.id)).state).toBe('frozen');
    await it.change(card, 'unfreeze', { key: 'refused-2' });
    await it.settled(card.id);
    expect([(await it.card(card.id)).state, await it.statusAt(card)]).toEqual(['active', 'active']);
  });
});

describe('changes of one card', () => {
  test('reach the issuer in order, and what was not told yet is left out', async () => {
    const card = await it.issued('order');
    await it.fault(card, 'freeze', { fault: 'timeout_before', times: 1 });
    await it.change(card, 'freeze', { key: 'o-1', prefer: 'respond-async' });
    await eventually(async () => {
      const { rows } = await it.world.owner.query(
        'select from sverka.card_change where card_id = $1 and submitted_at is not null',
        [card.id],
      );
      return rows.length === 1;
    });
    await it.change(card, 'unfreeze', { key: 'o-2', prefer: 'respond-async' });
    const last = await it.change(card, 'close', { key: 'o-3', prefer: 'respond-async' });
    expect([last.status, last.body['state']]).toEqual([202, 'closed']);
    await it.settled(card.id);
    expect(await it.changesOf(card.id)).toEqual(['freeze confirmed', 'unfreeze superseded', 'close confirmed']);
    const { requests } = (await it.issuer.truth()) as unknown as { requests: Record<string, number> };
    expect(requests[`POST /v1/cards/${card.ref}/unfreeze`]).toBeUndefined();
    expect([await it.statusAt(card), await it.onCard(card.id)]).toEqual(['closed', 0n]);
    expect(await it.eventsOf(card.id)).toEqual(['card.active', 'card.frozen', 'card.unfrozen', 'card.closed']);
  });

  test('are refused for a card that is not made, for ever under their key', async () => {
    const { body } = await it.issue('pending', { product: 'async', prefer: 'respond-async' });
    const card = { id: body.id, ref: '' };
    const refused = await it.change(card, 'freeze', { key: 'pending-freeze' });
    expect([refused.status, refused.body['code'], refused.headers.get('idempotent-replayed')]).toEqual([
      409,
      'invalid_state',
      null,
    ]);
    expect((await it.load(card, 'pending-load')).body['code']).toBe('invalid_state');
    await eventually(async () => (await it.card(card.id)).state === 'active');
    const again = await it.change(card, 'freeze', { key: 'pending-freeze' });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([409, 'true']);
  });

  test('take no body but an empty one, and no card of others', async () => {
    const card = await it.issued('bodies');
    const path = `/v1/cards/${card.id}/freeze`;
    const odd = await it.gateway.post(it.merchant, path, { key: 'odd', body: { now: true } });
    expect([odd.status, odd.body['code']]).toEqual([400, 'validation']);
    expect((await it.gateway.post(it.merchant, path, { key: 'odd', body: {} })).status).toBeLessThan(300);
    const nowhere = await it.change({ id: `card_${'0'.repeat(26)}`, ref: '' }, 'freeze', { key: 'nowhere' });
    expect([nowhere.status, nowhere.body['code']]).toEqual([404, 'not_found']);
  });
});
