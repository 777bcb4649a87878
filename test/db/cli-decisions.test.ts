import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLoginLink } from '../../src/db/login-links.js';
import { queriesOf } from '../../src/db/transaction.js';
import { readLoginFile, writeLoginFile } from '../../src/local/login-file.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { makePerson } from '../support/decisions.js';
import { depositOf, expectDepositInvariants } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let cli: CommandLine;
let at: MadeAddress;
let userId: string;
const linkFile = (login: string) => join(cli.state, 'login', login);

beforeAll(async () => {
  world = await openDepositWorld();
  cli = openCommandLine(null);
  const login = (user: string) => ({ user, role: user, at: 'console' as const, linkFile: linkFile(user) });
  const logins = ['operator', 'auditor', 'admin'].map(login);
  cli.setRun({ ...runWithConsole(world.database.urlFor('console')), logins });
  userId = await makePerson(world.owner, 'operator');
  await makePerson(world.owner, 'auditor', ['auditor']);
  await makePerson(world.owner, 'admin', ['admin']);
  for (const user of ['operator', 'auditor', 'admin']) await leaveLink(user);
  at = await world.address({ customerRef: 'player-7' });
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  cli.remove();
  await world.close();
});

async function leaveLink(login: string): Promise<void> {
  writeLoginFile(linkFile(login), (await createLoginLink(queriesOf(world.owner), login)) ?? '');
}

/** A deposit that waits for a person. */
async function parked(): Promise<{ ref: string; id: string }> {
  const ref = await world.arrive(at, { amount: '0.0000001' });
  await world.read(ref);
  return { ref, id: (await depositOf(world.owner, ref)).id };
}

const BY = ['--reason', 'asked the custodian', '--as', 'operator', '--yes'];

/** Runs the command while somebody applies what it decides, as the worker does. */
async function whileApplied<T>(ref: string, command: Promise<T>): Promise<T> {
  const done = Symbol('done');
  const watch = async () => {
    for (;;) {
      const { rowCount } = await world.owner.query(
        `select from sverka.decision d where not exists
           (select from sverka.decision_outcome o where o.decision_id = d.id)`,
      );
      if (rowCount) return void (await world.read(ref));
      if ((await Promise.race([command, pause(20, done)])) !== done) return;
    }
  };
  const [answer] = await Promise.all([command, watch()]);
  return answer;
}

describe('deposits decide', () => {
  it('without a choice shows what is to be decided, all that a decision is bound to, and ends with 5', async () => {
    const { ref, id } = await parked();
    expect(await cli.json(['deposits', 'decide', id], 5)).toMatchObject({
      object: 'pending_decision',
      needed: true,
      choices: ['retry', 'reject'],
      subject: {
        ...{ object: 'deposit', id, state: 'parked', reason: 'amount_too_precise', provider_ref: ref },
        ...{ flag: null, contradiction: null, accepted_contradiction: null },
        alert: expect.stringContaining('waits for a person (amount_too_precise)'),
      },
    });
    const { code, stdout } = await cli.run('deposits', 'decide', id);
    expect(code).toBe(5);
    for (const shown of [id, 'parked', 'amount_too_precise', '0.0000001', '--retry or --reject']) {
      expect(stdout).toContain(shown);
    }
    await cli.problem(['deposits', 'decide', id, '--book', 'test'], 3);
    await cli.problem(['deposits', 'decide', 'dep_00000000000000000000000000'], 3);
  });

  it('of a deposit that waits for nobody ends with 0, and with 4 when something is decided on it', async () => {
    const ref = await world.arrive(at, { amount: '1' });
    await world.read(ref);
    const { id } = await depositOf(world.owner, ref);
    expect(await cli.json(['deposits', 'decide', id])).toMatchObject({ needed: false, choices: [] });
    for (const choice of ['--retry', '--reject', '--orphan', '--accept']) {
      expect(await cli.problem(['deposits', 'decide', id, choice, ...BY], 4)).toMatchObject({ code: 'invalid_state' });
    }
  });

  it('is wrong usage without a reason or a person, with two choices, or with nobody to ask and no --yes', async () => {
    const { id } = await parked();
    for (const flags of [
      ['--retry', '--as', 'operator', '--yes'],
      ['--retry', '--as', 'operator', '--yes', '--reason', '  '],
      ['--retry', '--reason', 'why', '--yes'],
      ['--retry', '--reject', ...BY],
      ['--retry', '--reason', 'why', '--as', 'operator'],
      ['--retry', ...BY, '--wait', 'long'],
    ]) {
      expect([flags, (await cli.problem(['deposits', 'decide', id, ...flags], 2))['code']]).toEqual([
        flags,
        'validation',
      ]);
    }
    const { rowCount } = await world.owner.query('select from sverka.decision where subject_id = $1', [id]);
    expect(rowCount).toBe(0);
  });

  it('says what would happen with --dry-run, and uses no link', async () => {
    const { id } = await parked();
    const before = readLoginFile(linkFile('operator'));
    const by = ['--reason', 'why', '--as', 'operator'];
    expect(await cli.json(['deposits', 'decide', id, '--reject', '--dry-run', ...by])).toMatchObject({
      object: 'dry_run',
      would: `reject deposit ${id} as operator`,
      subject: { id, state: 'parked' },
      reason: 'why',
    });
    expect(readLoginFile(linkFile('operator'))).toBe(before);
  });

  it('leaves the person’s decision, uses up the link, leaves a fresh one, and says what came of it', async () => {
    const { ref, id } = await parked();
    await world.change(ref, { amount: '2' });
    await world.read(ref);
    const before = await walletOf(world, at);
    const link = readLoginFile(linkFile('operator'));
    const answer = await whileApplied(ref, cli.json(['deposits', 'decide', id, '--retry', ...BY]));
    expect(answer).toMatchObject({
      ...{ object: 'decision', subject_type: 'deposit', subject_id: id, stage: '1', choice: 'retry' },
      ...{ user: 'operator', reason: 'asked the custodian', outcome: 'applied', detail: 'retry' },
      subject: { object: 'deposit', id, state: 'final' },
    });
    expect(Number(await walletOf(world, at)) - Number(before)).toBe(2);
    const { rows } = await world.owner.query('select user_id, reason from sverka.decision where id = $1', [
      answer['id'],
    ]);
    expect(rows).toEqual([{ user_id: userId, reason: 'asked the custodian' }]);
    const fresh = readLoginFile(linkFile('operator'));
    expect(fresh).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(fresh).not.toBe(link);
    expect(statSync(linkFile('operator')).mode & 0o777).toBe(0o600);
    // The whole of it is in the story of the deposit, and of the decision.
    for (const name of [id, String(answer['id'])]) {
      const { items } = await cli.json(['trace', name]);
      expect((items as { kind: string }[]).filter(({ kind }) => kind === 'decision')).toMatchObject([
        { id: answer['id'], choice: 'retry', user_id: userId, outcome: 'applied', subject: { type: 'deposit', id } },
      ]);
    }
  });

  it('ends with 4 when what was seen has changed, and with 6 while nobody applies it', async () => {
    const { ref, id } = await parked();
    await world.change(ref, { amount: '3' });
    const by = ['--reason', 'x'.repeat(1_000), '--as', 'operator', '--yes'];
    const answer = await whileApplied(ref, cli.json(['deposits', 'decide', id, '--retry', ...by], 4));
    expect(answer).toMatchObject({
      outcome: 'void',
      detail: 'what was seen has changed',
      subject: { state: 'parked' },
    });
    const open = await cli.json(['deposits', 'decide', id, '--reject', ...BY, '--wait', '0'], 6);
    expect(open).toMatchObject({ outcome: null, detail: null, stage: '2' });
    // Another person comes too late for this stage.
    await cli.problem(['deposits', 'decide', id, '--retry', ...BY], 4);
    await world.read(ref);
    expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'rejected' });
  });

  it('for a person shows what is decided on before it asks, and the end', async () => {
    const { ref, id } = await parked();
    const { code, stdout } = await whileApplied(ref, cli.run('deposits', 'decide', id, '--reject', ...BY));
    expect(code).toBe(0);
    for (const shown of ['amount_too_precise', 'Applied: reject', 'The deposit is rejected (by_decision)']) {
      expect(stdout).toContain(shown);
    }
  });
});

describe('a person’s login', () => {
  it('of somebody whose roles do not allow it, of nobody, or without a link is refused with 7', async () => {
    const { id } = await parked();
    const decide = (...by: string[]) =>
      cli.problem(['deposits', 'decide', id, '--retry', '--reason', 'why', '--yes', ...by], 7);
    expect(await decide('--as', 'auditor')).toMatchObject({
      code: 'permission',
      detail: expect.stringMatching(/auditor may not/),
    });
    expect(await decide('--as', 'nobody')).toMatchObject({ detail: expect.stringMatching(/no person of this login/) });
    await makePerson(world.owner, 'linkless');
    expect(await decide('--as', 'linkless')).toMatchObject({
      detail: expect.stringMatching(/users login-link linkless/),
    });
    const { rowCount } = await world.owner.query('select from sverka.decision where subject_id = $1', [id]);
    expect(rowCount).toBe(0);
  });

  it('by a link that was used, or that is another person’s, is refused with 7', async () => {
    const { id } = await parked();
    const by = ['--retry', '--reason', 'why', '--yes', '--as', 'admin'];
    const used = readFileSync(linkFile('operator'), 'utf8');
    await leaveLink('operator');
    const others = readFileSync(linkFile('operator'), 'utf8');
    writeFileSync(linkFile('admin'), used);
    expect(await cli.problem(['deposits', 'decide', id, ...by], 7)).toMatchObject({
      detail: expect.stringMatching(/no unused link/),
    });
    writeFileSync(linkFile('admin'), others);
    expect(await cli.problem(['deposits', 'decide', id, ...by], 7)).toMatchObject({
      detail: expect.stringMatching(/another person/),
    });
    for (const login of ['operator', 'admin']) await leaveLink(login);
  });

  it('gets a fresh link by users login-link, also when the person was made later', async () => {
    await makePerson(world.owner, 'later');
    expect(await cli.json(['users', 'login-link', 'later', '--dry-run'])).toMatchObject({ object: 'dry_run' });
    expect(readLoginFile(linkFile('later'))).toBeNull();
    const answer = await cli.json(['users', 'login-link', 'later']);
    expect(answer).toEqual({ object: 'login_link', user: 'later', link_file: expect.stringContaining('login/later') });
    const { ref, id } = await parked();
    const by = ['--reject', '--reason', 'why', '--as', 'later', '--yes'];
    expect(await whileApplied(ref, cli.json(['deposits', 'decide', id, ...by]))).toMatchObject({ outcome: 'applied' });
    await cli.problem(['users', 'login-link', 'nobody'], 3);
    await cli.problem(['users', 'login-link', '../../etc/passwd'], 3);
  });
});

it('two people who decide on the same look: one of them, and the other ends with 4', async () => {
  const { ref, id } = await parked();
  const by = (login: string) => ['--reason', 'why', '--as', login, '--yes', '--json', '--wait', '0'];
  const ended = await Promise.all(
    ['operator', 'admin'].map((login) => cli.run('deposits', 'decide', id, '--reject', ...by(login))),
  );
  expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([4, 6]));
  await world.read(ref);
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'rejected' });
});
