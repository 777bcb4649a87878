import { createActivities } from '../../src/activities/create-activities.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { type CardWorld, type IssuedCard, openCardWorld } from '../support/card-world.js';
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

/** What the sweep does with a notification about that card. */
function readAgain(ref: string) {
  const { providerReadIssuanceOf } = createActivities(it.world.deps);
  return providerReadIssuanceOf({ book: 'live', provider: 'issuer', account: 'main-live', ref, traceId: newTraceId() });
}

/** Reads the card until it stands with us as the issuer shows it. */
function readUntil(card: IssuedCard, status: string): Promise<unknown> {
  return eventually(async () => {
    await readAgain(card.ref);
    return (await it.card(card.id)).provider_status === status;
  });
}

describe('closing a card', () => {
  test('returns what is on it, once, and ends all that could be done with it', async () => {
    const card = await it.issued('close');
    await it.load(card, 'close-load', { prefer: 'wait=10' });
    const before = await it.available();
    const closed = await it.change(card, 'close', { key: 'c-1', prefer: 'wait=10' });
    expect([closed.status, closed.body['state'], closed.body['loaded']]).toEqual([
      200,
      'closed',
      { amount: '0.00', asset: 'USD' },
    ]);
    expect([(await it.available()) - before, await it.onCard(card.id)]).toEqual([3_500n, 0n]);
    expect(await it.movementsOf(card.id)).toEqual(['card_return']);
    expect([await it.statusAt(card), await it.alertsOf(card.id)]).toEqual(['closed', []]);
    await expectNothingChanges(it.world.owner, async () => {
      expect((await it.change(card, 'close', { key: 'c-1' })).status).toBe(200);
    });
    expect((await it.change(card, 'close', { key: 'c-2' })).status).toBe(200);
    for (const change of ['freeze', 'unfreeze'] as const) {
      const refused = await it.change(card, change, { key: `c-${change}` });
      expect([refused.status, refused.body['code']]).toEqual([409, 'card_closed']);
    }
    expect((await it.load(card, 'c-load')).body['code']).toBe('card_closed');
    expect((await it.available()) - before).toBe(3_500n);
  });

  test('whose answer is lost returns it once', async () => {
    const card = await it.issued('close-lost');
    const before = await it.available();
    await it.fault(card, 'close', { fault: 'lost_answer', times: 1 });
    await it.change(card, 'close', { key: 'close-lost', prefer: 'respond-async' });
    await it.settled(card.id);
    expect([(await it.available()) - before, await it.movementsOf(card.id)]).toEqual([2_500n, ['card_return']]);
  });

  test('with less left at the issuer than with us returns that, and the rest is for a person', async () => {
    const card = await it.issued('close-other');
    const before = await it.available();
    await it.fault(card, 'close', { fault: 'lost_answer', times: 1 });
    await it.issuer.drive('POST', `/_sim/cards/${card.ref}/spend`, { kind: 'clearing.posted', amount: '5.00' });
    await it.change(card, 'close', { key: 'close-other' });
    await it.settled(card.id);
    expect(await it.alertsOf(card.id)).toEqual(['remaining_mismatch']);
    expect([(await it.available()) - before, await it.onCard(card.id)]).toEqual([2_000n, 500n]);
  });

  test('waits until no load is open, and is taken then under the same key', async () => {
    const card = await it.issued('close-open');
    await it.fault(card, 'loads', { fault: 'status', status: 503, times: 3 });
    const load = await it.load(card, 'open-load', { prefer: 'wait=0' });
    const early = await it.change(card, 'close', { key: 'open-close' });
    expect([early.status, early.body['code'], early.body['retryable'], early.headers.get('retry-after')]).toEqual([
      409,
      'outcome_unknown',
      true,
      '1',
    ]);
    expect((await it.card(card.id)).state).toBe('active');
    await eventually(async () => {
      return (await it.gateway.get(it.merchant, `/v1/loads/${load.body.id}`)).body['state'] === 'completed';
    });
    const before = await it.available();
    expect((await it.change(card, 'close', { key: 'open-close', prefer: 'wait=10' })).status).toBe(200);
    expect((await it.available()) - before).toBe(3_500n);
  });

  test('and loading at once: one of the two comes first, and no cent is left behind', async () => {
    for (let round = 0; round < 5; round += 1) {
      const card = await it.issued(`race-${round}`);
      const before = await it.available();
      const [load, close] = await Promise.all([
        it.load(card, `race-load-${round}`, { prefer: 'wait=10' }),
        it.change(card, 'close', { key: `race-close-${round}`, prefer: 'wait=10' }),
      ]);
      expect([201, 402, 409]).toContain(load.status);
      expect([200, 409]).toContain(close.status);
      if (close.status === 409) await it.change(card, 'close', { key: `race-close-${round}`, prefer: 'wait=10' });
      await it.settled(card.id);
      expect([(await it.available()) - before, await it.onCard(card.id)]).toEqual([2_500n, 0n]);
      expect([await it.statusAt(card), await it.alertsOf(card.id)]).toEqual(['closed', []]);
    }
  });
});

describe('a load', () => {
  test('of a card that is frozen while it waits ends for certain, and its money is in one place', async () => {
    const card = await it.issued('frozen-meanwhile');
    const before = await it.available();
    await it.fault(card, 'loads', { fault: 'timeout_before', times: 1 });
    const { body } = await it.load(card, 'meanwhile', { prefer: 'wait=0' });
    await eventually(async () => (await it.movementsOf(body.id)).includes('load_hold'));
    await it.change(card, 'freeze', { key: 'meanwhile-freeze', prefer: 'wait=10' });
    await eventually(async () => {
      const { state } = (await it.gateway.get(it.merchant, `/v1/loads/${body.id}`)).body;
      return state === 'failed' || state === 'completed';
    });
    const made = await it.loadsMade(body.id);
    expect([before - (await it.available()), (await it.onCard(card.id)) - 2_500n]).toEqual(
      made === 1 ? [1_000n, 1_000n] : [0n, 0n],
    );
  });

  test('waits while the issuer does not know that the card is active again', async () => {
    const card = await it.issued('unfrozen');
    await it.change(card, 'freeze', { key: 'u-1', prefer: 'wait=10' });
    await it.fault(card, 'unfreeze', { fault: 'timeout_before', times: 1 });
    await it.change(card, 'unfreeze', { key: 'u-2', prefer: 'respond-async' });
    const early = await it.load(card, 'u-load');
    expect([early.status, early.body['code']]).toEqual([409, 'outcome_unknown']);
    await it.settled(card.id);
    expect((await it.load(card, 'u-load', { prefer: 'wait=10' })).status).toBe(201);
  });
});

describe('what the issuer does by himself', () => {
  test('changes what he says of the card and not what is true here; a card he closed is for a person', async () => {
    const card = await it.issued('elsewhere');
    await it.issuer.drive('PATCH', `/_sim/cards/${card.ref}`, { status: 'frozen' });
    await readUntil(card, 'frozen');
    expect((await it.card(card.id)).state).toBe('active');
    expect(await it.alertsOf(card.id)).toEqual([]);
    await it.issuer.drive('PATCH', `/_sim/cards/${card.ref}`, { status: 'closed' });
    await readUntil(card, 'closed');
    expect((await it.card(card.id)).state).toBe('active');
    expect(await it.alertsOf(card.id)).toEqual(['closed_at_issuer']);
    expect(await it.onCard(card.id)).toBe(2_500n);
    const closed = await it.change(card, 'close', { key: 'elsewhere', prefer: 'wait=10' });
    expect([closed.status, await it.alertsOf(card.id), await it.onCard(card.id)]).toEqual([200, [], 0n]);
  });

  test('to a card of ours that is closed already makes it closed here with what it held', async () => {
    const card = await it.issued('refuses-close');
    await it.issuer.drive('PATCH', `/_sim/cards/${card.ref}`, { status: 'closed' });
    await readUntil(card, 'closed');
    await it.fault(card, 'close', { fault: 'status', status: 409, times: 1 });
    expect((await it.change(card, 'close', { key: 'refuses', prefer: 'wait=10' })).status).toBe(200);
    // He did not say what was left on it.
    expect([await it.alertsOf(card.id), await it.onCard(card.id)]).toEqual([['remaining_mismatch'], 0n]);
  });
});
