import { decideAs, makePerson, outcomeOf } from '../support/decisions.js';
import { type IssuanceWorld, openIssuanceWorld } from '../support/issuance-world.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { startSweep } from '../support/worker-inbox.js';
import type { RunningWorker } from '../support/worker-world.js';

const SETTINGS = {
  SVERKA_UNKNOWN_LOOKUP_INTERVAL: '50ms',
  SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX: '200ms',
  SVERKA_UNKNOWN_ALERT_LOOKS: '2',
  SVERKA_SWEEP_INTERVAL: '100ms',
  SVERKA_SWEEP_GRACE: '1ms',
};

let it: IssuanceWorld;
let worker: RunningWorker;
let operator: string;
let sweep: string;
beforeAll(async () => {
  it = await openIssuanceWorld({ settings: SETTINGS });
  worker = await it.world.startWorker();
  operator = await makePerson(it.world.owner, 'operator');
  sweep = await startSweep(it.world);
});
afterAll(async () => {
  await it.world.temporal.client.workflow.getHandle(sweep).terminate('the test is over');
  await worker.stop();
  await it.close();
});
afterEach(() => expectMoneyInvariants(it.world.owner, 'any'));

let keys = 0;

/** An issuance of which nobody knows whether it was made; `made`: it was, and the issuer does not show it. */
async function unknown({
  made = false,
}: {
  made?: boolean;
} = {}): Promise<{ cardId: string; id: string; hide: string }> {
  const before = new Set((await it.issuer.truth()).effects.map(({ id }) => id));
  const hiding = await it.issuer.drive('POST', '/_sim/faults', {
    match: { method: 'GET', path: '/v1/cards' },
    fault: 'not_found',
  });
  const fault = made ? 'lost_answer' : 'timeout_before';
  await it.issuer.drive('POST', '/_sim/faults', { match: { method: 'POST', path: '/v1/cards' }, fault, times: 1 });
  const answer = await it.issue(`unknown-${(keys += 1)}`, { prefer: 'wait=0' });
  await eventually(async () => (await it.card(answer.body.id)).issuance.state === 'unknown');
  await eventually(async () => (await row((await it.card(answer.body.id)).issuance.id)).needs_operator);
  const { issuance } = await it.card(answer.body.id);
  expect((await it.issuer.truth()).effects.filter(({ id }) => !before.has(id))).toHaveLength(made ? 1 : 0);
  return { cardId: answer.body.id, id: issuance.id, hide: hiding.id };
}

async function show(fault: string): Promise<void> {
  await it.issuer.drive('DELETE', `/_sim/faults/${fault}`);
}

async function row(id: string) {
  const rows = await it.world.tx.query<{ needs_operator: boolean; state: string; flag: string | null }>(
    'select needs_operator, state, flag from sverka.issuance where id = $1',
    [id],
  );
  return rows[0] ?? { needs_operator: false, state: 'none', flag: null };
}

async function decided(id: string, choice: string, argument?: string): Promise<string> {
  const how = {
    type: 'issuance',
    id,
    choice,
    userId: operator,
    ...(argument === undefined ? {} : { argument }),
  } as const;
  const decision = await decideAs(it.world.owner, how);
  let came: string | null = null;
  await eventually(async () => (came = await outcomeOf(it.world.owner, decision)) !== null);
  return came ?? 'open';
}

async function movementsOf(cardId: string): Promise<string[]> {
  const rows = await it.world.tx.query<{ kind: string }>(
    `select m.kind from ledger.movement m join sverka.issuance i on i.id = m.subject_id where i.card_id = $1 order by m.id`,
    [cardId],
  );
  return rows.map(({ kind }) => kind);
}

test('an unknown issuance that nobody finds waits for a person, and moves no money meanwhile', async () => {
  const { cardId, id, hide } = await unknown();
  expect(await it.alerts('issuance_needs_person')).toBeGreaterThan(0);
  expect(await movementsOf(cardId)).toEqual(['issuance_hold']);
  await show(hide);
  expect(await decided(id, 'declare_failed')).toBe('applied: declare_failed');
});

test('declared failed, it gives back what was set aside; the card that turns up later moves no money', async () => {
  const before = await it.available();
  const { cardId, id, hide } = await unknown({ made: true });
  expect(await decided(id, 'declare_failed')).toBe('applied: declare_failed');
  const failed = await it.card(cardId);
  expect([failed.state, failed.reason, failed.issuance.state]).toEqual(['failed', 'declared_failed', 'failed']);
  expect(await it.available()).toBe(before);
  await show(hide);
  await it.reconcile();
  expect((await row(id)).state).toBe('found_late');
  expect(await it.available()).toBe(before);
  expect(await movementsOf(cardId)).toEqual(['issuance_hold', 'issuance_release']);
  expect(await it.alerts('issuance_needs_person')).toBe(1);
  // A person has closed it at the issuer, and says so.
  expect(await decided(id, 'declare_failed')).toBe('applied: declare_failed');
  expect(await it.alerts('issuance_needs_person')).toBe(0);
  await it.reconcile();
  expect(await it.alerts('issuance_needs_person')).toBe(0);
});

test('issued again, the old one is given up and the new one is made once, by a fresh reserve', async () => {
  const { cardId, id, hide } = await unknown();
  const before = await it.available();
  expect(await decided(id, 'issue_again')).toBe('applied: issue_again');
  await show(hide);
  await eventually(async () => (await it.card(cardId)).state === 'active');
  const { issuance } = await it.card(cardId);
  expect([issuance.generation, issuance.id === id, (await row(id)).state]).toEqual([1, false, 'failed']);
  expect(await it.available()).toBe(before);
  expect(await movementsOf(cardId)).toEqual(['issuance_hold', 'issuance_release', 'issuance_hold', 'issuance_settle']);
  const replay = await it.gateway.get(it.merchant, `/v1/cards/${cardId}`);
  expect(replay.body).toMatchObject({ state: 'active', version: 4 });
});

test('linked to the card that was found, it is settled with that card', async () => {
  const { cardId, id, hide } = await unknown({ made: true });
  const made = (await it.issuer.truth()).effects.find(({ reference }) => reference === id);
  expect(await decided(id, 'link', made?.id ?? '')).toBe('applied: link');
  const card = await it.card(cardId);
  expect([card.state, card.issuance.state]).toEqual(['active', 'active']);
  expect(await movementsOf(cardId)).toEqual(['issuance_hold', 'issuance_settle']);
  await show(hide);
});

test('a card of another load is not linked: the decision is void and the hold stays', async () => {
  const { cardId, id, hide } = await unknown();
  await show(hide);
  const other = await it.issue('other-load', { amount: '7.00' });
  const otherMade = (await it.issuer.truth()).effects.find(
    ({ reference }) => reference === (other.body.issuance as { id: string }).id,
  );
  expect(await decided(id, 'link', otherMade?.id ?? '')).toMatch(/^void: .*amount_mismatch/);
  expect(await movementsOf(cardId)).toEqual(['issuance_hold']);
});

test('a card that settles another issuance is not linked to a second one', async () => {
  const other = await it.issue('taken');
  const reference = (other.body.issuance as { id: string }).id;
  const { id, cardId, hide } = await unknown();
  await show(hide);
  const made = (await it.issuer.truth()).effects.find((effect) => effect.reference === reference);
  expect(await decided(id, 'link', made?.id ?? '')).toMatch(/^void: /);
  expect(await movementsOf(cardId)).toEqual(['issuance_hold']);
});

test('a decision on what has changed since it was seen is void', async () => {
  const { cardId, id, hide } = await unknown({ made: true });
  const seen = await decideAs(it.world.owner, {
    type: 'issuance',
    id,
    choice: 'declare_failed',
    userId: operator,
    seenHash: Buffer.alloc(32),
  });
  await eventually(async () => (await outcomeOf(it.world.owner, seen))?.startsWith('void') ?? false);
  await show(hide);
  await eventually(async () => (await it.card(cardId)).state === 'active');
});

test('the reconciliation settles what a lost webhook left, and changes nothing when it runs again', async () => {
  const dropping = await it.issuer.drive('POST', '/_sim/faults', {
    match: { event_type: 'card.issued' },
    fault: 'drop',
  });
  const answer = await it.issue('lost-webhook', { product: 'async', prefer: 'respond-async' });
  await eventually(async () => (await it.card(answer.body.id)).issuance.state === 'pending');
  const { issuance } = await it.card(answer.body.id);
  // It was dropped: the fault says so.
  await eventually(async () => {
    const { faults } = (await it.issuer.drive('GET', '/_sim/faults')) as unknown as { faults: Fault[] };
    return faults.some(({ id, hits }) => id === dropping.id && hits > 0);
  });
  expect((await it.card(answer.body.id)).issuance.state).toBe('pending');
  const first = await it.reconcile();
  expect(first.changed).toBeGreaterThan(0);
  expect(issuance.id).toBe((await it.card(answer.body.id)).issuance.id);
  expect((await it.card(answer.body.id)).state).toBe('active');
  expect((await it.reconcile()).changed).toBe(0);
  await show(dropping.id);
});

interface Fault {
  readonly id: string;
  readonly hits: number;
}
