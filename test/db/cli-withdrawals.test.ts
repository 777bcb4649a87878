import { createHash } from 'node:crypto';
import { toTraceItem } from '../../src/cli/trace-item.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { searchSubjects } from '../../src/db/search.js';
import { readTrace } from '../../src/db/trace.js';
import { queriesOf } from '../../src/db/transaction.js';
import { setUserDisabled } from '../../src/db/users.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { type WithdrawalMoves, withdrawalMoves } from '../support/withdrawal-moves.js';
import { ADDRESS, openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';

const HASH = 'ab'.repeat(32);
let database: TestDatabase;
let it: Withdrawing;
let moves: WithdrawalMoves;
let cli: CommandLine;
let paid: string;
let waiting: string;

beforeAll(async () => {
  database = await openTestDatabase();
  it = await openWithdrawing(database);
  moves = withdrawalMoves(it);
  cli = openCommandLine(runWithConsole(database.urlFor('console')));
  paid = await it.request({ amount: 20_000_000n });
  await moves.decide(paid, 'approve', it.approver);
  await moves.submit(paid);
  await notify('cpo_1');
  await moves.read(paid, { id: 'cpo_1', txHash: HASH });
  waiting = await it.request({ amount: 5_000_000n });
});
afterAll(async () => {
  cli.remove();
  await it.close();
  await database.close();
});

/** A notification of a payout, through the relay's own door. */
async function notify(ref: string): Promise<void> {
  const relay = createPool(database.urlFor('relay'), { max: 1, applicationName: 'test' });
  const body = Buffer.from(JSON.stringify({ payout: ref }));
  await acceptDeliveries(queriesOf(relay), [
    {
      ...{ provider: 'custody', endpoint: 'main-live', book: 'live', deliveryId: `ev-${ref}`, body },
      ...{ eventType: 'payout.changed', subject: { type: 'payout', ref }, parkedReason: null },
      ...{ traceId: 'c'.repeat(32), bodyHash: createHash('sha256').update(body).digest() },
    },
  ]);
  await relay.end();
}

describe('withdrawals', () => {
  test('show answers what events tell of it, with how it is paid beside it', async () => {
    expect(await cli.json(['withdrawals', 'show', paid])).toMatchObject({
      ...{ object: 'withdrawal', id: paid, state: 'completed', book: 'live', merchant_id: it.merchantId },
      amount: { amount: '20.000000', asset: 'USDT-TRC20' },
      fee: { amount: '1.000000', asset: 'USDT-TRC20' },
      ...{ destination: ADDRESS, transaction_hash: HASH, route: 'custody', approvals_needed: 1, terms: 1 },
      payout: { id: 'cpo_1', status: 'completed', fee: { amount: '0.300000', asset: 'USDT-TRC20' } },
      ...{ requested_by: it.requester, flag: null, needs_operator: false, alert: null },
    });
    expect(await cli.json(['withdrawals', 'show', waiting])).toMatchObject({
      ...{ state: 'requested', route: null, approvals_needed: null, payout: null, submitted_at: null },
    });
    const { stdout } = await cli.run('withdrawals', 'show', paid);
    expect(stdout).toContain('cpo_1: completed, fee 0.300000 USDT-TRC20');
    await cli.problem(['withdrawals', 'show', paid, '--book', 'test'], 3);
    await cli.problem(['withdrawals', 'show', `wd_${'0'.repeat(26)}`], 3);
  });

  test('list filters and pages, newest first', async () => {
    const ids = async (...flags: string[]) => {
      const { data } = await cli.json(['withdrawals', 'list', ...flags]);
      return (data as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids()).toEqual([waiting, paid]);
    expect(await ids('--state', 'completed', '--state', 'failed')).toEqual([paid]);
    expect(await ids('--route', 'custody', '--hash', HASH, '--destination', ADDRESS)).toEqual([paid]);
    expect(await ids('--book', 'test')).toEqual([]);
    expect(await ids('--merchant', `mer_${'0'.repeat(26)}`)).toEqual([]);
    const first = await cli.json(['withdrawals', 'list', '--limit', '1']);
    expect(await ids('--limit', '1', '--cursor', String(first['next_cursor']))).toEqual([paid]);
    await cli.problem(['withdrawals', 'list', '--state', 'paid'], 2);
    const { stdout } = await cli.run('withdrawals', 'list');
    expect(stdout).toMatch(/completed +20\.000000 +1\.000000 +USDT-TRC20 +custody/);
  });
});

describe('users', () => {
  test('list names everybody by login, by role, merchant and state, and nothing that signs in', async () => {
    await setUserDisabled(queriesOf(it.owner), { id: it.approver2, isDisabled: true });
    interface User {
      readonly id: string;
      readonly login: string;
    }
    const users = async (...flags: string[]) => {
      const { data } = await cli.json(['users', 'list', ...flags]);
      return data as User[];
    };
    const ids = async (...flags: string[]) => (await users(...flags)).map(({ id }) => id);
    const all = await users('--limit', '100');
    expect(all.map(({ login }) => login)).toEqual(all.map(({ login }) => login).toSorted());
    expect(await ids('--role', 'approver')).toEqual([it.approver, it.approver2]);
    expect(await ids('--role', 'approver', '--state', 'active')).toEqual([it.approver]);
    const [requester] = await users('--merchant', it.merchantId);
    expect(requester).toEqual({
      ...{ object: 'user', id: it.requester, login: expect.any(String), roles: ['requester'] },
      ...{ merchant_id: it.merchantId, created_at: expect.any(String), disabled_at: null },
    });
    const page = await cli.json(['users', 'list', '--limit', '1']);
    expect(await ids('--limit', '1', '--cursor', String(page['next_cursor']))).toEqual([all[1]?.id]);
    expect((await cli.run('users', 'list')).stdout).toMatch(/approver2-\d+ +approver +– +disabled/);
  });
});

describe('trace', () => {
  const tell = async (name: string) => {
    const { items, scope } = await readTrace(it.console, name, null);
    return { items: items.map((item) => toTraceItem(item)), workflows: scope.workflowIds, subjects: scope.subjects };
  };

  test('of a withdrawal has its moves, money, decision, events, notification and workflow', async () => {
    const { items, workflows } = await tell(paid);
    const of = (kind: string, member: string) =>
      items.filter((item) => item['kind'] === kind).map((item) => item[member]);
    expect(of('move', 'to')).toEqual(['requested', 'approved', 'submitted', 'completed']);
    expect(of('move', 'actor')).toEqual([
      ...[`user:${it.requester}`, `user:${it.approver}`, 'worker:custody', 'worker:custody'],
    ]);
    // Settle and fee are one commit: which of them has the lower number is nobody's promise.
    const [hold, ...rest] = of('movement', 'movement').map((movement) => (movement as { kind: string }).kind);
    expect([hold, ...rest.toSorted()]).toEqual(['withdrawal_hold', 'withdrawal_fee', 'withdrawal_settle']);
    expect(of('decision', 'choice')).toEqual(['approve']);
    expect(of('webhook', 'type')).toEqual(['payout.changed']);
    expect(of('event', 'type')).toEqual([
      ...['withdrawal.requested', 'withdrawal.approved', 'withdrawal.submitted', 'withdrawal.completed'],
    ]);
    expect(workflows).toEqual([`withdrawal:live:${paid}`]);
  });

  test("is the same by its payout's id, its hash, its workflow, its decision and its movement", async () => {
    const { items } = await tell(paid);
    const idOf = (kind: string) => String(items.find((item) => item['kind'] === kind)?.['id']);
    const movement = items.find(({ kind }) => kind === 'movement')?.['movement'] as { id: string };
    const names = ['cpo_1', HASH, HASH.toUpperCase(), `withdrawal:live:${paid}`, idOf('decision'), movement.id];
    for (const name of names) expect([name, (await tell(name)).items]).toEqual([name, items]);
  });

  test('of a destination, by its line in the book or its address, tells of all that went there', async () => {
    for (const name of [it.destinationId, ADDRESS]) {
      const { subjects, workflows } = await tell(name);
      expect([name, subjects]).toEqual([name, expect.arrayContaining([paid, waiting])]);
      expect(workflows).toEqual(expect.arrayContaining([`withdrawal:live:${paid}`, `withdrawal:live:${waiting}`]));
    }
  });

  test('is found from the command line', async () => {
    const { items, subjects } = await cli.json(['trace', 'cpo_1']);
    expect(subjects).toEqual([paid]);
    expect((items as unknown[]).length).toBeGreaterThan(10);
  });
});

test('the search of the console finds a withdrawal by id, hash, payout and address', async () => {
  const db = queriesOf(it.console);
  expect(await searchSubjects(db, paid)).toMatchObject([{ type: 'withdrawal', id: paid, by: 'id' }]);
  const found = async (text: string) => (await searchSubjects(db, text)).map(({ type, id, by }) => [type, id, by]);
  expect(await found(HASH.toUpperCase())).toEqual([['withdrawal', paid, 'tx_hash']]);
  expect(await found('cpo_1')).toEqual([['withdrawal', paid, 'provider_ref']]);
  expect(await found(ADDRESS)).toEqual(
    expect.arrayContaining([
      ['withdrawal', paid, 'address'],
      ['withdrawal', waiting, 'address'],
    ]),
  );
});
