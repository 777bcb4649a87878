import type pg from 'pg';
import { takeBalanceStep } from '../../src/activities/balance-checks.js';
import { createBalanceActivities } from '../../src/activities/balances.js';
import { createInboxActivities } from '../../src/activities/inbox.js';
import { assignBalanceSource } from '../../src/db/balance-mirror.js';
import { findBalanceSource, hashSeenBalances } from '../../src/db/balance-sources.js';
import { Refused, UniqueViolation } from '../../src/db/errors.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { ProviderError } from '../../src/providers/errors.js';
import { type BalanceWorld, openBalanceWorld, SOURCE } from '../support/balance-world.js';
import { decideAs, makePerson, outcomeOf } from '../support/decisions.js';
import { TESTER } from '../support/tester.js';

const KEY = 'live:pert:pert-main';

let world: BalanceWorld;
let console: pg.Pool;
let operator: string;
let merchantId: string;
beforeEach(async () => {
  world = await openBalanceWorld();
  console = createPool(world.database.urlFor('console'), { max: 2, applicationName: 'test-console' });
  operator = await makePerson(world.owner, 'operator');
  merchantId = newId('merchant');
  await world.owner.query('select sverka.create_merchant($1, $2)', [merchantId, 'Nordwind']);
  await assignBalanceSource(queriesOf(console), { ...SOURCE, merchantId }, TESTER);
  await world.move({ from: null, to: 'a', currency: 'USDT', amount: '100' });
  await world.move({ from: null, to: 'b', currency: 'BTC', amount: '0.5' });
  await world.check();
  await world.move({ from: 'a', to: 'c', currency: 'USDT', amount: '30' });
  await world.check();
});
afterEach(async () => {
  await console.end();
  await world.close();
});

/** What our sum is off by, although every page was read: as if a bug had moved it. */
const spoil = () => world.owner.query(`update sverka.balance_currency set base = base + 5 where currency = 'USDT'`);
const decide = (of: { userId?: string; seenHash?: Buffer; stage?: string } = {}) =>
  decideAs(console, { type: 'balance_source', id: KEY, choice: 'rebase', userId: operator, ...of });
/** Turns of the worker as its run takes them, until it waits. */
async function turn(): Promise<void> {
  const { pageBalances } = createBalanceActivities(world.deps);
  while ((await pageBalances(SOURCE)).waitMs <= 1);
}
const rowsOf = (sql: string, params: unknown[] = []) =>
  world.owner.query<Record<string, unknown>>(sql, params).then(({ rows }) => rows);
const openAlerts = () => rowsOf(`select kind from sverka.alert where state = 'open'`);
const checks = () =>
  rowsOf('select id, trigger, result, actions from sverka.balance_check order by started_at desc limit 1');
const seenNow = async () => {
  const source = await findBalanceSource(world.tx, KEY);
  if (!source) throw new Error('There is no such source.');
  return { ...source, hash: hashSeenBalances(source) };
};
const stale = () =>
  rowsOf(
    `select a.address, a.version::text from sverka.balance_address a join sverka.balance_source s on s.id = a.source_id
      where a.resets < s.resets order by 1`,
  );

describe('a person’s rebase', () => {
  it('makes a fresh snapshot the truth: its own check, event, audit and outcome, and no difference', async () => {
    await spoil();
    expect(await world.check()).toBe('differs');
    const versions = await rowsOf('select address, version::text from sverka.balance_address order by 1');
    const id = await decide();
    await turn();
    expect(await outcomeOf(world.owner, id)).toBe('applied: rebase');
    expect(await world.sums()).toEqual(await world.theirSums());
    // Versions survive it, so that nothing old comes back.
    expect(await stale()).toEqual(versions);
    const [check] = await checks();
    expect(check).toMatchObject({ trigger: 'operator', result: 'rebased', actions: ['compared', 'rebased'] });
    expect(await seenNow()).toMatchObject({ differing: [], differences: 0, lastAction: 'rebased' });
    expect(await rowsOf('select name, findings from sverka.check_run')).toEqual([
      { name: 'balance_check:pert:pert-main', findings: 0 },
    ]);
    const events = await rowsOf(
      `select type, merchant_id, subject_id, data from sverka.event where merchant_id = $1 order by created_at`,
      [merchantId],
    );
    expect(events).toEqual([
      {
        ...{ type: 'balance.rebased', merchant_id: merchantId, subject_id: check?.['id'] },
        data: {
          ...{ object: 'balance_check', id: check?.['id'], source: 'pert-main', trigger: 'operator' },
          ...{ result: 'rebased', actions: ['compared', 'rebased'], changes_read: 0, consecutive_differences: 0 },
          currencies: [{ currency: 'USDT', ours: '105', theirs: '100', difference: '5' }],
          started_at: expect.any(String),
          finished_at: expect.any(String),
        },
      },
    ]);
    const audit = `select from_state, to_state, actor, reason, book, merchant_id from sverka.audit
      where subject_type = 'balance_source' and subject_id = $1 order by id`;
    expect(await rowsOf(audit, [KEY])).toMatchObject([
      { reason: 'source_assigned', to_state: merchantId },
      {
        ...{ from_state: 'differs', to_state: 'rebased', actor: `user:${operator}` },
        ...{ reason: 'source_rebased', book: 'live', merchant_id: merchantId },
      },
    ]);
    // What goes on from there is as from any base.
    await world.move({ from: 'a', to: 'c', currency: 'USDT', amount: '1' });
    expect(await world.check()).toBe('equal');
    expect(await world.sums()).toEqual(await world.theirSums());
    expect(await stale()).toEqual([]);
  });

  it('is applied once, whoever of two workers comes first', async () => {
    const before = await seenNow();
    const id = await decide();
    await Promise.all([turn(), turn(), turn()]);
    expect(await outcomeOf(world.owner, id)).toBe('applied: rebase');
    expect((await seenNow()).resets).toBe(before.resets + 1);
    const rebased = `select from sverka.balance_check where result = 'rebased' and trigger = 'operator'`;
    expect((await world.owner.query(rebased)).rowCount).toBe(1);
    expect((await world.owner.query('select from sverka.event')).rowCount).toBe(1);
  });

  it('of two people who saw the same, one decides', async () => {
    const other = await makePerson(world.owner, 'operator2');
    const both = await Promise.allSettled([decide({ stage: '1' }), decide({ stage: '1', userId: other })]);
    const refused = both.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused).toEqual([expect.any(UniqueViolation)]);
    await turn();
    expect((await seenNow()).resets).toBe(2);
  });

  it('takes over the check that is under way: one is open for each source, and it ends', async () => {
    await world.move({ from: 'a', to: 'c', currency: 'USDT', amount: '1' });
    await world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
    expect(await takeBalanceStep(world.deps, SOURCE)).toEqual({ kind: 'begun' });
    const [open] = await checks();
    expect(open).toMatchObject({ trigger: 'timer', result: null });
    await decide();
    expect(await takeBalanceStep(world.deps, SOURCE)).toEqual({ kind: 'ended', result: 'rebased' });
    expect(await checks()).toEqual([
      { ...open, trigger: 'operator', result: 'rebased', actions: ['compared', 'rebased'] },
    ]);
    expect(await takeBalanceStep(world.deps, SOURCE)).toBeNull();
  });

  it('outlives a comparison that another worker had begun with an older snapshot', async () => {
    await world.move({ from: null, to: 'a', currency: 'USDT', amount: '7' });
    await world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
    for (let step = await takeBalanceStep(world.deps, SOURCE); step?.kind !== 'page'; )
      step = await takeBalanceStep(world.deps, SOURCE);
    let connected = 0;
    // The first connection of its step is that of the comparison: until then it has read what is stale by then.
    const pool = new Proxy(world.deps.pool, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== 'connect') return typeof value === 'function' ? value.bind(target) : value;
        return async () => {
          connected += 1;
          if (connected === 1) {
            await world.move({ from: null, to: 'a', currency: 'USDT', amount: '1' });
            await decide();
            await turn();
          }
          return target.connect();
        };
      },
    });
    expect(await takeBalanceStep({ ...world.deps, pool }, SOURCE)).toEqual({ kind: 'overtaken' });
    expect(connected).toBe(1);
    expect(await checks()).toMatchObject([{ result: 'rebased', trigger: 'operator' }]);
    expect(await seenNow()).toMatchObject({ differing: [], lastAction: 'rebased' });
    expect(await world.sums()).toEqual(await world.theirSums());
  });

  it('resolves the alert of a lasting difference', async () => {
    await spoil();
    for (const _ of [1, 2, 3]) expect(await world.check()).toBe('differs');
    expect(await openAlerts()).toEqual([{ kind: 'balance_difference' }]);
    await decide();
    await turn();
    expect(await openAlerts()).toEqual([]);
  });
});

describe('what a person saw', () => {
  it('is not changed by webhooks, pages and checks that find nothing', async () => {
    const { hash } = await seenNow();
    await world.move({ from: 'a', to: 'c', currency: 'USDT', amount: '2' });
    await world.deliver(await world.webhooks());
    await world.drain();
    expect(await world.check()).toMatch(/^(equal|healed)$/);
    const id = await decide({ seenHash: hash });
    await turn();
    expect(await outcomeOf(world.owner, id)).toBe('applied: rebase');
  });

  it.each<[what: string, change: () => Promise<unknown>]>([
    ['a difference', async () => (await spoil(), world.check())],
    ['a reset', async () => (await decide(), turn())],
    ['another owner', () => assignBalanceSource(queriesOf(console), { ...SOURCE, merchantId: null }, TESTER)],
  ])('is changed by %s: then the decision is void, and nothing is done', async (_, change) => {
    const { hash } = await seenNow();
    await change();
    const before = await seenNow();
    const id = await decide({ seenHash: hash });
    await turn();
    expect(await outcomeOf(world.owner, id)).toBe('void: what was seen has changed');
    expect((await seenNow()).resets).toBe(before.resets);
    // The next stage can be decided anew.
    const again = await decide();
    await turn();
    expect(await outcomeOf(world.owner, again)).toBe('applied: rebase');
  });
});

describe('when something is away', () => {
  it('the provider: the check fails, the decision stays open and is applied when he answers', async () => {
    const id = await decide();
    const { id: fault } = (await world.pert.drive('POST', '/_sim/faults', {
      ...{ match: { method: 'GET', path: '/asset/balances/currencies' }, fault: 'status', status: 503, times: 1 },
    })) as unknown as { id: string };
    const { pageBalances, databaseFailBalanceCheck } = createBalanceActivities(world.deps);
    await expect(pageBalances(SOURCE)).rejects.toThrow(ProviderError);
    // After a failure it is due with the next check, and not in a hot loop.
    expect((await databaseFailBalanceCheck(SOURCE)).waitMs).toBeGreaterThan(1_000);
    expect(await outcomeOf(world.owner, id)).toBeNull();
    const { faults } = (await world.pert.drive('GET', '/_sim/faults')) as unknown as {
      faults: { id: string; hits: number }[];
    };
    expect(faults.find((each) => each.id === fault)?.hits).toBe(1);
    await turn();
    expect(await outcomeOf(world.owner, id)).toBe('applied: rebase');
  });

  it('the provider, who says when to ask again: he is asked then, and nobody turns in a hot loop', async () => {
    const id = await decide();
    await world.pert.drive('POST', '/_sim/faults', {
      ...{ match: { method: 'GET', path: '/asset/balances/currencies' }, fault: 'status', status: 429, times: 1 },
      retry_after: 60,
    });
    const { pageBalances, databaseDrainBalances } = createBalanceActivities(world.deps);
    expect((await pageBalances(SOURCE)).waitMs).toBeGreaterThan(50_000);
    // Not for whom it was decided either: he would answer now.
    expect((await pageBalances(SOURCE)).waitMs).toBeGreaterThan(50_000);
    expect((await databaseDrainBalances(SOURCE)).checkMs).toBeGreaterThan(50_000);
    expect(await outcomeOf(world.owner, id)).toBeNull();
    await world.owner.query('update sverka.balance_source set not_before = clock_timestamp()');
    await turn();
    expect(await outcomeOf(world.owner, id)).toBe('applied: rebase');
  });

  it('the worker, as the person decided: the drain says that it is due, and the sweep says look', async () => {
    const { databaseDrainBalances } = createBalanceActivities(world.deps);
    expect((await databaseDrainBalances(SOURCE)).checkMs).toBeGreaterThan(1_000);
    await decide();
    expect((await databaseDrainBalances(SOURCE)).checkMs).toBe(1);
    const nudged: unknown[] = [];
    const { databaseNudgeOverdue } = createInboxActivities({
      ...world.deps,
      nudgeBalances: async (source) => void nudged.push(source),
    });
    await databaseNudgeOverdue();
    expect(nudged).toEqual([SOURCE]);
    await turn();
    await databaseNudgeOverdue();
    expect(nudged).toHaveLength(1);
  });
});

describe('is refused', () => {
  it.each([['auditor'], ['approver']])('to a person who is %s', async (role) => {
    const userId = await makePerson(world.owner, role, [role]);
    await expect(decide({ userId })).rejects.toBeInstanceOf(Refused);
    await turn();
    expect((await seenNow()).resets).toBe(1);
  });

  it('an audit of a rebase that nobody has decided, or that was applied before', async () => {
    const worker = queriesOf(world.deps.pool);
    const note = (id: string) => worker.query('select sverka.note_balance_rebase($1, null)', [id]);
    await expect(note(newId('decision'))).rejects.toBeInstanceOf(Refused);
    const id = await decide();
    await turn();
    await expect(note(id)).rejects.toBeInstanceOf(Refused);
  });
});
