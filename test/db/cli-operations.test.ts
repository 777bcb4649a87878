import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createBreaker } from '../../src/db/breaker.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { createLoginLink } from '../../src/db/login-links.js';
import { queriesOf } from '../../src/db/transaction.js';
import { writeLoginFile } from '../../src/local/login-file.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { makePerson } from '../support/decisions.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { expectDepositInvariants } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let cli: CommandLine;
let at: MadeAddress;

beforeAll(async () => {
  world = await openDepositWorld();
  cli = openCommandLine(runWithConsole(world.database.urlFor('console')));
  await makePerson(world.owner, 'operator');
  const token = await createLoginLink(queriesOf(world.owner), 'operator');
  writeLoginFile(join(cli.state, 'login', 'operator'), token ?? '');
  at = await world.address();
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  cli.remove();
  await world.close();
});

type Row = Record<string, unknown> & { id: string };
const list = async (...args: string[]) => (await cli.json(args))['data'] as Row[];

/** Runs the command while the sweep comes by, as it does every five seconds. */
async function whileSwept<T>(command: Promise<T>): Promise<T> {
  const done = Symbol('done');
  const sweeping = async () => {
    do await world.sweep();
    while ((await Promise.race([command.catch(() => done), pause(50, 'on')])) === 'on');
  };
  const [answer] = await Promise.all([command, sweeping()]);
  return answer;
}

describe('deadletters', () => {
  const BY = ['--reason', 'the record is corrected', '--as', 'operator', '--yes'];

  async function dead(): Promise<{ ref: string; letter: Row }> {
    const ref = await world.arrive(at, { amount: '1e3' });
    await acceptDeliveries(queriesOf(world.owner), [deliveryOf(ref)]);
    for (let n = 0; n < 10; n += 1) await world.read(ref).catch(() => undefined);
    const letter = (await list('deadletters', 'list')).find((each) => (each['subject'] as Row).id === ref);
    if (!letter) throw new Error('The notification did not die.');
    return { ref, letter };
  }

  it('are listed, shown and traced, with the alert that told of them', async () => {
    const { ref, letter } = await dead();
    expect(letter).toMatchObject({
      ...{ object: 'dead_letter', book: 'live', provider: 'custody', endpoint: 'main-live', state: 'open' },
      ...{ reason: 'unreadable_record', attempts: 10, replays: 0, closed_at: null },
      subject: { type: 'deposit', id: ref },
    });
    expect(await cli.json(['deadletters', 'show', letter.id])).toEqual(letter);
    expect(await list('deadletters', 'list', '--book', 'test')).toEqual([]);
    const { stdout } = await cli.run('deadletters', 'show', letter.id);
    for (const shown of [letter.id, 'unreadable_record', 'failed 10 times']) expect(stdout).toContain(shown);
    const alert = (await list('alerts', 'list')).find(({ key }) => key === `dead_letter:${letter['inbox_id']}`);
    for (const name of [letter.id, ref, String(letter['inbox_id']), String(alert?.id)]) {
      const kinds = ((await cli.json(['trace', name]))['items'] as Row[]).map(({ kind }) => kind);
      expect([name, kinds]).toEqual([name, expect.arrayContaining(['webhook', 'alert', 'dead_letter'])]);
    }
    await cli.problem(['deadletters', 'show', 'dl_00000000000000000000000000'], 3);
  });

  it('are replayed and abandoned by a person’s decision with a reason, and then by no other', async () => {
    const { ref, letter } = await dead();
    await cli.problem(['deadletters', 'replay', letter.id, '--as', 'operator', '--yes'], 2);
    await cli.problem(['deadletters', 'replay', letter.id, '--reason', 'why', '--yes'], 2);
    expect(await cli.json(['deadletters', 'abandon', letter.id, '--dry-run', ...BY])).toMatchObject({
      would: `abandon dead letter ${letter.id} as operator`,
    });
    await world.change(ref, { amount: '2' });
    expect(await whileSwept(cli.json(['deadletters', 'replay', letter.id, ...BY]))).toMatchObject({
      ...{ object: 'decision', subject_type: 'dead_letter', choice: 'replay', outcome: 'applied', user: 'operator' },
      subject: { id: letter.id, replays: 1 },
    });
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    await world.sweep();
    expect(await cli.json(['deadletters', 'show', letter.id])).toMatchObject({ state: 'applied' });
    expect(await cli.problem(['deadletters', 'abandon', letter.id, ...BY], 4)).toMatchObject({ code: 'invalid_state' });

    const other = (await dead()).letter;
    expect(await whileSwept(cli.json(['deadletters', 'abandon', other.id, ...BY]))).toMatchObject({
      ...{ choice: 'abandon', outcome: 'applied', subject: { state: 'abandoned' } },
    });
    expect((await list('deadletters', 'list')).map(({ id }) => id)).not.toContain(other.id);
    expect((await list('deadletters', 'list', '--all')).map(({ id }) => id)).toContain(other.id);
    const decisions = ((await cli.json(['trace', ref]))['items'] as Row[]).filter(({ kind }) => kind === 'decision');
    expect(decisions).toMatchObject([{ choice: 'replay', subject: { type: 'dead_letter', id: letter.id } }]);
  });
});

it('alerts list shows what is open, opened last first, and the rest with --all', async () => {
  for (const n of [1, 2, 3]) {
    await world.owner.query(`select sverka.raise_alert($1, 'test', $2, 'deposit', 'dep_x', 'Look.', null)`, [
      `test:${n}`,
      n === 1 ? 'test' : null,
    ]);
  }
  await world.owner.query(`select sverka.resolve_alert('test:2')`);
  const keys = async (...flags: string[]) =>
    (await list('alerts', 'list', ...flags)).flatMap(({ kind, key }) => (kind === 'test' ? [key] : []));
  expect(await keys()).toEqual(['test:3', 'test:1']);
  expect(await keys('--all')).toEqual(['test:3', 'test:2', 'test:1']);
  expect(await keys('--book', 'live')).toEqual(['test:3']);
  const [alert] = await list('alerts', 'list', '--limit', '1');
  expect(alert).toEqual({
    ...{ object: 'alert', id: expect.stringMatching(/^alt_/), key: 'test:3', kind: 'test', book: null },
    ...{ subject: { type: 'deposit', id: 'dep_x' }, state: 'open', times: 1, detail: 'Look.', trace_id: null },
    ...{ opened_at: expect.any(String), last_seen_at: expect.any(String), resolved_at: null },
  });
  expect((await cli.json(['trace', alert?.id ?? '']))['items']).toContainEqual(
    expect.objectContaining({ kind: 'alert', id: alert?.id, detail: 'Look.' }),
  );
});

it('breakers list shows which providers are spared, and until when', async () => {
  for (const [name, failuresMax] of [
    ['custody:live', 1],
    ['custody:test', 5],
  ] as const) {
    const limits = { failuresMax, windowMs: 30_000, openMs: 60_000, leaseMs: 10_000 };
    const admission = await createBreaker(queriesOf(world.pool), name, limits).admit();
    if ('failed' in admission) await admission.failed();
  }
  expect(await list('breakers', 'list')).toMatchObject([
    { object: 'breaker', provider: 'custody', book: 'live', state: 'open', open_until: expect.any(String) },
    { object: 'breaker', provider: 'custody', book: 'test', state: 'closed', recent_failures: 1, open_until: null },
  ]);
  expect(await list('breakers', 'list', '--book', 'test')).toHaveLength(1);
  const { stdout } = await cli.run('breakers', 'list');
  expect(stdout).toMatch(/custody {2,}live {2,}open/);
});

describe('ledger import', () => {
  const csv = (...lines: string[]) => {
    const file = join(cli.state, 'openings.csv');
    writeFileSync(file, ['book,owner,asset,amount,reference', ...lines].join('\n'));
    return file;
  };

  it('says with --dry-run what it would post, then posts it once', async () => {
    const file = csv(`live,${world.merchantId},USD,25,old book`, `live,${world.merchantId}/player-7,EUR,7.50,`);
    expect(await cli.json(['ledger', 'import', file, '--dry-run'])).toMatchObject({
      would: 'post 2 opening balances',
      subject: {
        lines: [
          { line: 2, owner: world.merchantId, amount: { amount: '25.00', asset: 'USD' }, reference: 'old book' },
          { line: 3, owner: `${world.merchantId}/player-7`, amount: { amount: '7.50', asset: 'EUR' } },
        ],
      },
    });
    expect((await cli.run('ledger', 'import', file, '--dry-run')).stdout).toContain('25.00');
    expect((await world.owner.query('select from sverka.ledger_import')).rowCount).toBe(0);
    const answer = await whileSwept(cli.json(['ledger', 'import', file]));
    expect(answer).toEqual({
      ...{ object: 'ledger_import', file_hash: expect.stringMatching(/^[0-9a-f]{64}$/), state: 'posted', lines: 2 },
      actor: 'cli',
      finished_at: expect.any(String),
    });
    // The same file again: nothing is asked of anybody.
    expect(await cli.json(['ledger', 'import', file])).toEqual(answer);
    expect(await walletOf(world, { asset: 'USD' })).toBe('25.00');
    // Another file cannot touch what is open.
    expect(await cli.problem(['ledger', 'import', csv(`live,${world.merchantId},USD,1,`)], 4)).toMatchObject({
      ...{ code: 'invalid_state', errors: [{ pointer: 'line 2', detail: 'the account is used already' }] },
    });
  });

  it('names every bad line and posts nothing; 6 while no worker comes by', async () => {
    const bad = csv(`live,${world.merchantId},JPY,1.5,`, `live,${world.merchantId},GBP,5,`, 'x');
    expect(await cli.problem(['ledger', 'import', bad], 2)).toMatchObject({
      code: 'validation',
      errors: [{ pointer: 'line 2' }, { pointer: 'line 4' }],
    });
    const nobody = csv(`live,mer_${'0'.repeat(26)},GBP,5,`);
    expect(await cli.problem(['ledger', 'import', nobody], 4)).toMatchObject({
      errors: [{ pointer: 'line 2', detail: 'there is no such merchant' }],
    });
    await cli.problem(['ledger', 'import', join(cli.state, 'gone.csv')], 3);
    writeFileSync(join(cli.state, 'latin.csv'), Buffer.from([0xe9, 0x2c]));
    await cli.problem(['ledger', 'import', join(cli.state, 'latin.csv')], 2);
    const file = csv(`live,${world.merchantId},GBP,5,`);
    await cli.problem(['ledger', 'import', file, '--wait', '0'], 6);
    expect(await whileSwept(cli.json(['ledger', 'import', file]))).toMatchObject({ state: 'posted' });
  });
});
