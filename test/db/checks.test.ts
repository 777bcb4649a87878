import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createCheckActivities } from '../../src/activities/checks.js';
import { Retryable } from '../../src/db/errors.js';
import { draw, leg } from '../../src/domain/journal.js';
import { openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';
import { eventually } from '../support/simulated-custody.js';

const quiet = { logger: new DefaultLogger('ERROR') };
let world: DepositWorld;
let purse: Purse;
const input = { traceId: 'c'.repeat(32) };
/** The checks under a beat, as the worker runs them. */
const checks = () => {
  const { checkDrift, checkAll, databaseWatchHealth } = createCheckActivities(world.deps);
  const run = <T>(check: (of: typeof input) => Promise<T>) => {
    return (of: typeof input): Promise<T> => new MockActivityEnvironment({}, quiet).run(check, of);
  };
  return { checkDrift: run(checkDrift), checkAll: run(checkAll), databaseWatchHealth };
};
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
  it.each(['checkDrift', 'checkAll'] as const)('%s notes that it ran, and finds whole books whole', async (name) => {
    expect(await checks()[name](input)).toEqual({
      accounts: expect.any(Number),
      movements: 1,
      entries: 2,
      findings: 0,
    });
    const check = name === 'checkDrift' ? 'drift_check' : 'full_check';
    expect(await runOf(check)).toEqual({ findings: 0, finished: true });
    expect(await alerts()).toEqual([]);
  });

  it('find damage, each finding one alert under the same key; the nightly one resolves what was mended', async () => {
    await damage(BIGGER);
    const found = [
      `drift drift:broken_chain:${purse.wallet}`,
      `drift drift:head_differs:${purse.wallet}`,
      expect.stringMatching(/^drift drift:unbalanced:mov_/),
    ];
    expect(await checks().checkDrift(input)).toMatchObject({ findings: 3 });
    expect(await alerts()).toEqual(found);
    expect(await checks().checkAll(input)).toMatchObject({ findings: 3 });
    expect(await alerts()).toEqual(found);
    expect(await runOf('full_check')).toMatchObject({ findings: 3 });
    const { rows } = await world.owner.query('select times, trace_id from sverka.alert');
    expect(rows).toEqual([1, 2, 3].map(() => ({ times: 2, trace_id: input.traceId })));

    await damage(SMALLER);
    expect(await checks().checkDrift(input)).toMatchObject({ findings: 0 });
    // Hourly looks at a part only, so it takes nothing back.
    expect(await alerts()).toEqual(found);
    expect(await checks().checkAll(input)).toMatchObject({ findings: 0 });
    expect(await alerts()).toEqual([]);
    await damage(BIGGER);
    await checks().checkAll(input);
    // Opened again in place.
    expect(await alerts()).toEqual(found);
  });

  it('see somebody who owes and has: a collect that was forgotten', async () => {
    const owing = await openPurse(world.pool);
    await postNow(world.pool, movement([leg(owing.wallet, -5n), draw(owing.receivable), leg(owing.clearing, 5n)]));
    await post(3n, owing);
    await checks().checkDrift(input);
    expect(await alerts()).toEqual([`drift drift:owed_and_wallet:${owing.wallet}`]);
  });
});

describe('the nightly check', () => {
  it('holds the state tables against the journal and its audit, with the rights of the worker', async () => {
    const ref = await world.arrive(await world.address(), { amount: '3' });
    await world.read(ref);
    await checks().checkAll(input);
    expect(await alerts()).toEqual([]);
    const client = await world.owner.connect();
    await client.query("set session_replication_role = 'replica'");
    await client.query('alter table sverka.deposit disable trigger all');
    await client.query('update sverka.deposit set credited_amount = credited_amount + 1 where provider_ref = $1', [
      ref,
    ]);
    client.release(true);
    expect((await checks().checkAll(input)).findings).toBeGreaterThan(0);
    expect(await alerts()).toContainEqual(expect.stringMatching(/^drift drift:deposit_without_movement/));
  });

  it('ends with its activity: the statement that runs is cancelled in the database', async () => {
    const holder = await world.owner.connect();
    try {
      await holder.query('begin; lock table ledger.entry in access exclusive mode');
      const environment = new MockActivityEnvironment({}, quiet);
      const check = environment.run(createCheckActivities(world.deps).checkAll, input).catch((error: unknown) => error);
      const waiting = `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%fresh%'`;
      await eventually(async () => (await world.owner.query(waiting)).rowCount === 1);
      environment.cancel();
      expect(await check).toBeInstanceOf(Retryable);
      expect((await world.owner.query(waiting)).rowCount).toBe(0);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });
});

describe('the hourly check', () => {
  it('goes on from where the last one ended, and does not pass an account that it found bad', async () => {
    await checks().checkDrift(input);
    expect(await checks().checkDrift(input)).toMatchObject({ accounts: 0, entries: 0 });
    await post(1n);
    const other = await openPurse(world.pool);
    await post(7n, other);
    await damage(`${BIGGER} and seq = 2`);
    expect(await checks().checkDrift(input)).toMatchObject({ accounts: 4, entries: 4, findings: 3 });
    // An unbalanced movement spoils the whole round: which accounts it concerns is not known.
    expect(await checks().checkDrift(input)).toMatchObject({ accounts: 4, entries: 4, findings: 3 });
    await damage(`${SMALLER} and seq = 2`);
    expect(await checks().checkDrift(input)).toMatchObject({ accounts: 4, entries: 4, findings: 0 });
    expect(await checks().checkDrift(input)).toMatchObject({ accounts: 0 });
  });

  it('cannot see what was altered behind its mark, which the nightly one does', async () => {
    await checks().checkDrift(input);
    await damage(BIGGER);
    expect(await checks().checkDrift(input)).toMatchObject({ findings: 0 });
    expect(await checks().checkAll(input)).toMatchObject({ findings: 3 });
  });
});

it('of a thousand findings fifty are alerts, and none of the others is taken for mended', async () => {
  for (let n = 0; n < 30; n += 1) await post(1n, await openPurse(world.pool));
  await damage('update ledger.entry set amount = amount * 3', []);
  const { findings } = await checks().checkAll(input);
  expect(findings).toBeGreaterThan(100);
  expect(await alerts()).toHaveLength(50);
  await checks().checkAll(input);
  expect(await alerts()).toHaveLength(50);
});

describe('a check that does not come to its end', () => {
  it('is an alert at once, until it does', async () => {
    await world.owner.query('alter table ledger.verified rename to hidden');
    await expect(checks().checkDrift(input)).rejects.toThrow(/ledger.verified/);
    expect(await alerts()).toEqual(['check_failed check_failed:drift_check']);
    expect(await runOf('drift_check')).toBeNull();
    await world.owner.query('alter table ledger.hidden rename to verified');
    await checks().checkDrift(input);
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
    const patient = { ...world.deps, config: { ...world.deps.config, SVERKA_CHECK_GRACE: 5 * 60_000 } };
    await createCheckActivities(patient).databaseWatchHealth(input);
    expect(await alerts()).toEqual(['check_late health:check:inbox_sweep']);
    await checks().databaseWatchHealth(input);
    expect(await alerts()).toEqual([
      'check_late health:check:deposit_reconcile:custody:main-live',
      'check_late health:check:drift_check',
      'check_late health:check:inbox_sweep',
    ]);
    await checks().checkDrift(input);
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

  it.each([
    ['an issuer’s reconciliation', 'issuer', 'issuance_reconcile', 'main-live'],
    ['a comparison of mirrored balances', 'pert', 'balance_check', 'pert-main'],
  ] as const)('which %s is, too: not run, it is an alert', async (_, provider, check, account) => {
    const names = { provider, book: 'live', account } as const;
    const config = { ...world.deps.config, providers: [{ ...names, url: '', apiKey: '', webhookSecrets: [] }] };
    const watch = () => createCheckActivities({ ...world.deps, config }).databaseWatchHealth(input);
    await watch();
    expect(await alerts()).toEqual([]);
    await world.owner.query(
      `update sverka.check_run set expected_since = clock_timestamp() - interval '3 hours' where name = $1`,
      [`${check}:${provider}:${account}`],
    );
    await watch();
    expect(await alerts()).toEqual([`check_late health:check:${check}:${provider}:${account}`]);
  });
});
