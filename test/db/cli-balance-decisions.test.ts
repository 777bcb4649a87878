import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createBalanceActivities } from '../../src/activities/balances.js';
import { createLoginLink } from '../../src/db/login-links.js';
import { readLoginFile, writeLoginFile } from '../../src/local/login-file.js';
import { type BalanceWorld, openBalanceWorld, SOURCE } from '../support/balance-world.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { makePerson } from '../support/decisions.js';

const BY = ['--reason', 'the provider has corrected it', '--as', 'operator', '--yes'];

let world: BalanceWorld;
let cli: CommandLine;
let userId: string;
const linkFile = (login: string) => join(cli.state, 'login', login);

beforeAll(async () => {
  world = await openBalanceWorld();
  cli = openCommandLine(null);
  const login = (user: string) => ({ user, role: user, at: 'console' as const, linkFile: linkFile(user) });
  cli.setRun({ ...runWithConsole(world.database.urlFor('console')), logins: ['operator', 'auditor'].map(login) });
  userId = await makePerson(world.owner, 'operator');
  await makePerson(world.owner, 'auditor', ['auditor']);
  for (const user of ['operator', 'auditor']) {
    writeLoginFile(linkFile(user), (await createLoginLink(world.tx, user)) ?? '');
  }
  await world.move({ from: null, to: 'a', currency: 'USDT', amount: '100' });
});
afterAll(async () => {
  cli.remove();
  await world.close();
});

/** Runs the command while the worker takes its turns. */
async function whileApplied<T>(command: Promise<T>): Promise<T> {
  const { pageBalances } = createBalanceActivities(world.deps);
  const watch = async () => {
    for (const over = Symbol('over'); (await Promise.race([command, pause(20, over)])) === over; ) {
      await pageBalances(SOURCE);
    }
  };
  const [answer] = await Promise.all([command, watch()]);
  return answer;
}
const decisions = async () => (await world.owner.query('select from sverka.decision')).rowCount;

describe('balances rebase', () => {
  it('before the first load is refused with 4: there is nothing to begin anew', async () => {
    await cli.problem(['balances', 'rebase', 'pert-main', ...BY], 3);
    await world.tx.query("select sverka.lock_balance_source('live', 'pert', 'pert-main')");
    expect(await cli.problem(['balances', 'rebase', 'pert-main', ...BY], 4)).toMatchObject({ code: 'invalid_state' });
    expect(await world.check()).toBe('rebased');
  });

  it('is wrong usage without a reason or a person, or with nobody to ask and no --yes', async () => {
    for (const flags of [['--as', 'operator', '--yes'], ['--reason', 'why', '--yes'], BY.slice(0, -1)]) {
      expect((await cli.problem(['balances', 'rebase', 'pert-main', ...flags], 2))['code']).toBe('validation');
    }
    expect(await decisions()).toBe(0);
  });

  it('says what would happen with --dry-run, with all that is known, and uses no link', async () => {
    const link = readLoginFile(linkFile('operator'));
    expect(await cli.json(['balances', 'rebase', 'pert-main', ...BY, '--dry-run'])).toMatchObject({
      ...{ object: 'dry_run', would: 'rebase source pert-main as operator' },
      subject: {
        ...{ object: 'balance_source', source: 'pert-main', book: 'live', merchant_id: null, resets: 1 },
        ...{ consecutive_differences: 0, last_action: 'rebased', alert: null },
        balances: [{ object: 'balance', currency: 'USDT', balance: '100', difference: '0' }],
      },
    });
    expect(readLoginFile(linkFile('operator'))).toBe(link);
    expect(await decisions()).toBe(0);
  });

  it('leaves the person’s decision, which the worker applies, and says what came of it', async () => {
    const answer = await whileApplied(cli.json(['balances', 'rebase', 'pert-main', ...BY]));
    expect(answer).toMatchObject({
      ...{ object: 'decision', subject_type: 'balance_source', subject_id: 'live:pert:pert-main', choice: 'rebase' },
      ...{ user: 'operator', reason: 'the provider has corrected it', outcome: 'applied', detail: 'rebase' },
      subject: { object: 'balance_source', resets: 2, last_action: 'rebased' },
    });
    const [check] = (await cli.json(['balances', 'history', '--source', 'pert-main']))['data'] as { id: string }[];
    expect(check).toMatchObject({ trigger: 'operator', result: 'rebased', actions: ['compared', 'rebased'] });
    const trace = async (id: string) =>
      ((await cli.json(['trace', id]))['items'] as { kind: string }[]).map(({ kind }) => kind).sort();
    // Nobody has the source: nobody is told. What began it at all is in the story of source and decision.
    expect(await trace(check?.id ?? '')).toEqual(['balance_check', 'decision', 'move']);
    for (const id of [String(answer['id']), 'live:pert:pert-main']) {
      expect([id, await trace(id)]).toEqual([id, ['balance_check', 'balance_check', 'decision', 'move']]);
    }
    expect(await world.owner.query('select user_id from sverka.decision').then(({ rows }) => rows)).toEqual([
      { user_id: userId },
    ]);
  });

  it('for a person shows what it is about, and ends with 6 while nobody applies it', async () => {
    const { code, stdout } = await cli.run('balances', 'rebase', 'pert-main', ...BY, '--wait', '0');
    expect(code).toBe(6);
    for (const shown of ['live:pert:pert-main', 'nothing', 'rebased']) expect(stdout).toContain(shown);
    // The same stage is decided once.
    await cli.problem(['balances', 'rebase', 'pert-main', ...BY], 4);
    expect(await world.check()).toBe('rebased');
  });

  it('by who may not is refused with 7', async () => {
    const before = await decisions();
    const by = ['--reason', 'why', '--as', 'auditor', '--yes'];
    expect(await cli.problem(['balances', 'rebase', 'pert-main', ...by], 7)).toMatchObject({ code: 'permission' });
    expect(await decisions()).toBe(before);
  });
});
