import { createCheckActivities } from '../../src/activities/checks.js';
import { draw, leg } from '../../src/domain/journal.js';
import { openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';

let world: DepositWorld;
let purse: Purse;
const input = { traceId: 'c'.repeat(32) };
const checks = () => createCheckActivities(world.deps);
const alerts = () => openAlerts(world.owner);

beforeEach(async () => {
  world = await openDepositWorld();
  purse = await openPurse(world.pool);
  await post(2_500n);
});
afterEach(() => world.close());

async function post(amount: bigint, of = purse): Promise<void> {
  const [result] = await postNow(world.pool, movement([leg(of.clearing, -amount), leg(of.wallet, amount)]));
  expect(result?.outcome).toBe('posted');
}

/** What nobody can do in production: with the triggers off. */
async function damage(sql: string, params: unknown[] = [purse.wallet]): Promise<void> {
  for (const table of ['entry', 'movement']) await world.owner.query(`alter table ledger.${table} disable trigger all`);
  expect((await world.owner.query(sql, params)).rowCount).toBeGreaterThan(0);
  for (const table of ['entry', 'movement']) {
    await world.owner.query(`alter table ledger.${table} enable trigger all`);
    await world.owner.query(`alter table ledger.${table} enable always trigger append_only`);
  }
}
const BIGGER = 'update ledger.entry set amount = amount + 1 where account_id = $1';
const SMALLER = 'update ledger.entry set amount = amount - 1 where account_id = $1';

async function runOf(name: string) {
  const { rows } = await world.owner.query<{ findings: number | null; finished: boolean }>(
    'select findings, finished_at is not null as finished from sverka.check_run where name = $1',
    [name],
  );
  return rows[0] ?? null;
}

describe('both checks', () => {
  it.each(['pageDriftCheck', 'pageFullCheck'] as const)(
    '%s notes that it ran, and finds whole books whole',
    async (name) => {
      expect(await checks()[name](input)).toEqual({
        accounts: expect.any(Number),
        movements: 1,
        entries: 2,
        findings: 0,
      });
      const check = name === 'pageDriftCheck' ? 'drift_check' : 'full_check';
      expect(await runOf(check)).toEqual({ findings: 0, finished: true });
      expect(await alerts()).toEqual([]);
    },
  );

  it('find damage, each finding one alert under the same key; the nightly one resolves what was mended', async () => {
    await damage(BIGGER);
    const found = [
      `drift drift:broken_chain:${purse.wallet}`,
      `drift drift:head_differs:${purse.wallet}`,
      expect.stringMatching(/^drift drift:unbalanced:mov_/),
    ];
    expect(await checks().pageDriftCheck(input)).toMatchObject({ findings: 3 });
    expect(await alerts()).toEqual(found);
    expect(await checks().pageFullCheck(input)).toMatchObject({ findings: 3 });
    expect(await alerts()).toEqual(found);
    expect(await runOf('full_check')).toMatchObject({ findings: 3 });
    const { rows } = await world.owner.query('select times, trace_id from sverka.alert');
    expect(rows).toEqual([1, 2, 3].map(() => ({ times: 2, trace_id: input.traceId })));

    await damage(SMALLER);
    expect(await checks().pageDriftCheck(input)).toMatchObject({ findings: 0 });
    // Hourly looks at a part only, so it takes nothing back.
    expect(await alerts()).toEqual(found);
    expect(await checks().pageFullCheck(input)).toMatchObject({ findings: 0 });
    expect(await alerts()).toEqual([]);
    await damage(BIGGER);
    await checks().pageFullCheck(input);
    // Opened again in place.
    expect(await alerts()).toEqual(found);
  });

  it('see somebody who owes and has: a collect that was forgotten', async () => {
    const owing = await openPurse(world.pool);
    await postNow(world.pool, movement([leg(owing.wallet, -5n), draw(owing.receivable), leg(owing.clearing, 5n)]));
    await post(3n, owing);
    await checks().pageDriftCheck(input);
    expect(await alerts()).toEqual([`drift drift:owed_and_wallet:${owing.wallet}`]);
  });
});

describe('the hourly check', () => {
  it('goes on from where the last one ended, and does not pass an account that it found bad', async () => {
    await checks().pageDriftCheck(input);
    expect(await checks().pageDriftCheck(input)).toMatchObject({ accounts: 0, entries: 0 });
    await post(1n);
    const other = await openPurse(world.pool);
    await post(7n, other);
    await damage(`${BIGGER} and seq = 2`);
    expect(await checks().pageDriftCheck(input)).toMatchObject({ accounts: 4, entries: 4, findings: 3 });
    // An unbalanced movement spoils the whole round: which accounts it concerns is not known.
    expect(await checks().pageDriftCheck(input)).toMatchObject({ accounts: 4, entries: 4, findings: 3 });
    await damage(`${SMALLER} and seq = 2`);
    expect(await checks().pageDriftCheck(input)).toMatchObject({ accounts: 4, entries: 4, findings: 0 });
    expect(await checks().pageDriftCheck(input)).toMatchObject({ accounts: 0 });
  });

  it('cannot see what was altered behind its mark, which the nightly one does', async () => {
    await checks().pageDriftCheck(input);
    await damage(BIGGER);
    expect(await checks().pageDriftCheck(input)).toMatchObject({ findings: 0 });
    expect(await checks().pageFullCheck(input)).toMatchObject({ findings: 3 });
  });
});

it('of a thousand findings fifty are alerts, and none of the others is taken for mended', async () => {
  for (let n = 0; n < 30; n += 1) await post(1n, await openPurse(world.pool));
  await damage('update ledger.entry set amount = amount * 3', []);
  const { findings } = await checks().pageFullCheck(input);
  expect(findings).toBeGreaterThan(100);
  expect(await alerts()).toHaveLength(50);
  await checks().pageFullCheck(input);
  expect(await alerts()).toHaveLength(50);
});

describe('a check that does not come to its end', () => {
  it('is an alert at once, until it does', async () => {
    await world.owner.query('alter table ledger.verified rename to hidden');
    await expect(checks().pageDriftCheck(input)).rejects.toThrow(/ledger.verified/);
    expect(await alerts()).toEqual(['check_failed check_failed:drift_check']);
    expect(await runOf('drift_check')).toBeNull();
    await world.owner.query('alter table ledger.hidden rename to verified');
    await checks().pageDriftCheck(input);
    expect(await alerts()).toEqual([]);
  });

  it('or never runs is an alert when its second turn is over, however often a worker starts', async () => {
    await checks().databaseWatchHealth(input);
    expect(await alerts()).toEqual([]);
    const age = (span: string) =>
      world.owner.query(`update sverka.check_run set expected_since = clock_timestamp() - interval '${span}'`);
    await age('2 hours');
    await checks().databaseWatchHealth(input);
    expect(await alerts()).toEqual(['check_late health:check:inbox_sweep']);
    await age('2 hours 2 minutes');
    await checks().databaseWatchHealth(input);
    expect(await alerts()).toEqual([
      'check_late health:check:deposit_reconcile:custody:main-live',
      'check_late health:check:drift_check',
      'check_late health:check:inbox_sweep',
    ]);
    await checks().pageDriftCheck(input);
    await world.page();
    await world.sweep();
    await checks().databaseWatchHealth(input);
    expect(await alerts()).toEqual([]);
    // One that ran, and then stopped running.
    await world.owner.query(`update sverka.check_run set finished_at = finished_at - interval '49 hours'`);
    await age('49 hours');
    await checks().databaseWatchHealth(input);
    expect(await alerts()).toEqual([
      'check_late health:check:deposit_reconcile:custody:main-live',
      'check_late health:check:drift_check',
      'check_late health:check:full_check',
      'check_late health:check:inbox_sweep',
    ]);
  });
});
