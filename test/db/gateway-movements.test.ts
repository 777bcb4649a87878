import { setTimeout as pause } from 'node:timers/promises';
import { openAccounts } from '../../src/db/accounts.js';
import { post } from '../../src/db/journal.js';
import { inTransaction, queriesOf, type Tx } from '../../src/db/transaction.js';
import type { AccountName } from '../../src/domain/journal.js';
import { leg, type MovementInstruction } from '../../src/domain/journal.js';
import { makeMerchant, openTestGateway, type TestGateway, type TestMerchant } from '../support/gateway.js';
import { makeCustomer } from '../support/gateway-rows.js';
import { keyOf } from '../support/journal-fixtures.js';

let gateway: TestGateway;
let merchant: TestMerchant;
let customerId: string;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(async () => gateway?.close());
beforeEach(async () => {
  merchant = await makeMerchant(gateway.tx);
  customerId = await makeCustomer(gateway.tx, { merchantId: merchant.id }, 'player-7');
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SUBJECT = { type: 'deposit', id: 'dep_01m8mxxm1dendtgh5kmdznkxxb' };
type Side = Pick<AccountName, 'kind' | 'asset'> & { ref?: string; mine?: boolean };

/** Moves an amount between accounts of the merchant or (`mine: false`) of his customer; answers the movement's id. */
async function move(
  tx: Tx,
  sides: { from: Side; to: Side; amount: bigint },
  rest: Partial<MovementInstruction> = {},
): Promise<string> {
  const [from, to] = await openAccounts(tx, [sides.from, sides.to].map(nameOf));
  if (from === undefined || to === undefined) throw new Error('no accounts');
  const lines = [leg(from, -sides.amount), leg(to, sides.amount)];
  const movement = { kind: 'deposit_credit' as const, key: keyOf(), subject: SUBJECT, lines, ...rest };
  const [posted] = await post(tx, [movement], { traceId: TRACE });
  expect(posted?.outcome).toBe('posted');
  return posted?.movementId ?? '';
}

function nameOf({ mine = true, ...side }: Side): AccountName {
  return { book: 'live', merchantId: merchant.id, customerId: mine ? null : customerId, ...side };
}

const deposit = (asset: string, amount: bigint, to: Partial<Side> = {}): Parameters<typeof move>[1] => ({
  from: { kind: 'clearing:custody', asset },
  to: { kind: 'wallet', asset, ...to },
  amount,
});
const moveNow = (...[sides, rest]: [Parameters<typeof move>[1], Partial<MovementInstruction>?]) =>
  inTransaction(gateway.owner, (tx) => move(tx, sides, rest));

interface Page {
  readonly data: readonly { id: string; entries: readonly object[] }[];
  readonly has_more: boolean;
  readonly next_cursor: string;
}
async function list(query = ''): Promise<Page> {
  const answer = await gateway.call('GET', `/v1/movements${query}`, { key: merchant.keys.live });
  expect(answer.status).toBe(200);
  return answer.json as unknown as Page;
}
const idsOf = (page: Page) => page.data.map((movement) => movement.id);

/** The list once it shows these; what is sealed waits for every older transaction, those of other databases too. */
async function listOnce(query: string, ids: readonly string[]): Promise<Page> {
  for (let tries = 0; ; tries += 1) {
    const page = await list(query);
    if (idsOf(page).join() === ids.join() || tries === 200) return page;
    await pause(25);
  }
}

describe('the wallet', () => {
  const wallet = async () => (await gateway.call('GET', '/v1/wallet', { key: merchant.keys.live })).json;

  test('shows a row per asset that ever moved, from the entries of each kind of account', async () => {
    await moveNow(deposit('USD', 150_000n));
    await moveNow({
      from: { kind: 'wallet', asset: 'USD' },
      to: { kind: 'hold', asset: 'USD', ref: 'iss_1' },
      amount: 7_500n,
    });
    await moveNow({
      from: { kind: 'wallet', asset: 'USD' },
      to: { kind: 'card', asset: 'USD', ref: 'card_1' },
      amount: 10_000n,
    });
    await moveNow(deposit('USD', 2_500n, { kind: 'hold', ref: 'dep_early' }));
    const last = await moveNow({
      from: { kind: 'receivable', asset: 'USD' },
      to: { kind: 'clearing:issuer', asset: 'USD' },
      amount: 300n,
    });
    await moveNow(deposit('JPY', 500n));
    await moveNow({
      from: { kind: 'wallet', asset: 'JPY' },
      to: { kind: 'clearing:custody', asset: 'JPY' },
      amount: 500n,
    });
    await moveNow(deposit('ETH', 12_345_678_901_234_567_890_123n));
    await moveNow(deposit('EUR', 99n, { mine: false }));

    const usd = (amount: string) => ({ amount, asset: 'USD' });
    const shown = await wallet();
    expect(shown).toMatchObject({ object: 'wallet', owner: { type: 'merchant', id: merchant.id, ref: null } });
    expect(shown.id).toMatch(/^wal_[0-9a-z]{26}$/);
    expect((shown.balances as { asset: string }[]).map((row) => row.asset)).toEqual(['ETH', 'JPY', 'USD']);
    expect((shown.balances as object[])[0]).toMatchObject({
      available: { amount: '12345.678901234567890123', asset: 'ETH' },
      held: { amount: '0.000000000000000000', asset: 'ETH' },
    });
    expect((shown.balances as object[])[1]).toMatchObject({ available: { amount: '0', asset: 'JPY' } });
    expect((shown.balances as object[])[2]).toEqual({
      asset: 'USD',
      available: usd('1325.00'),
      held: usd('75.00'),
      incoming: usd('25.00'),
      on_cards: usd('100.00'),
      receivable: usd('3.00'),
      net: usd('1322.00'),
      last_movement_id: last,
    });
  });

  test('has the same id every time, and another one in the other book', async () => {
    const { id } = await wallet();
    expect((await wallet()).id).toBe(id);
    const test = await gateway.call('GET', '/v1/wallet', { key: merchant.keys.test });
    expect(test.json.id).not.toBe(id);
    expect(test.json.balances).toEqual([]);
  });
});

describe('a movement', () => {
  test('shows its entries with owner, place and running balance, summing to zero', async () => {
    await moveNow(deposit('USDT-TRC20', 100_000_000n, { mine: false }));
    const id = await moveNow(deposit('USDT-TRC20', 25_000_000n, { mine: false }), { reference: 'for player 7' });
    const answer = await gateway.call('GET', `/v1/movements/${id}`, { key: merchant.keys.live });
    const token = (amount: string) => ({ amount, asset: 'USDT-TRC20' });
    expect(answer.json).toEqual({
      object: 'movement',
      id,
      kind: 'deposit_credit',
      subject: SUBJECT,
      generation: 0,
      recorded_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      trace_id: TRACE,
      compensates: null,
      reference: 'for player 7',
      entries: [
        {
          account: { kind: 'clearing:custody', owner: { type: 'merchant', id: merchant.id, ref: null }, ref: null },
          seq: '2',
          amount: token('-25.000000'),
          balance: token('-125.000000'),
        },
        {
          account: { kind: 'wallet', owner: { type: 'customer', id: customerId, ref: 'player-7' }, ref: null },
          seq: '2',
          amount: token('25.000000'),
          balance: token('125.000000'),
        },
      ],
    });
  });

  test('names the one that it undoes, and the hold it took from', async () => {
    const key = keyOf();
    const first = await moveNow(deposit('USD', 500n, { kind: 'hold', ref: 'dep_1' }), { key, kind: 'deposit_hold' });
    const back = {
      from: { kind: 'hold', asset: 'USD', ref: 'dep_1' },
      to: { kind: 'clearing:custody', asset: 'USD' },
    } as const;
    const second = await moveNow({ ...back, amount: 500n }, { kind: 'deposit_orphaned', compensates: key });
    const shown = (await gateway.call('GET', `/v1/movements/${second}`, { key: merchant.keys.live })).json;
    expect(shown.compensates).toBe(first);
    const entries = shown.entries as { account: { ref: string | null } }[];
    expect(new Set(entries.map((entry) => entry.account.ref))).toEqual(new Set(['dep_1', null]));
  });

  test('of another merchant or the other book is not found', async () => {
    const id = await moveNow(deposit('USD', 500n));
    const other = await makeMerchant(gateway.tx);
    for (const key of [merchant.keys.test, other.keys.live]) {
      expect((await gateway.call('GET', `/v1/movements/${id}`, { key })).status).toBe(404);
    }
    expect(
      (await gateway.call('GET', '/v1/movements/mov_7zzzzzzzzzzzzzzzzzzzzzzzzz', { key: merchant.keys.live })).status,
    ).toBe(404);
  });
});

describe('the statement', () => {
  test('is newest first, narrowed by filters', async () => {
    const a = await moveNow(deposit('USD', 100n));
    const b = await moveNow(deposit('EUR', 100n, { mine: false }), { subject: { type: 'deposit', id: 'dep_1' } });
    const c = await moveNow(
      { from: { kind: 'wallet', asset: 'USD' }, to: { kind: 'hold', asset: 'USD', ref: 'iss_1' }, amount: 50n },
      { kind: 'issuance_hold', subject: { type: 'issuance', id: 'iss_1' } },
    );
    const cases: [string, string[]][] = [
      ['', [c, b, a]],
      ['?asset=USD', [c, a]],
      ['?asset=USD&asset=EUR', [c, b, a]],
      ['?kind=issuance_hold', [c]],
      ['?kind=issuance_hold&kind=deposit_credit&asset=EUR', [b]],
      ['?subject_type=issuance', [c]],
      ['?subject_id=dep_1', [b]],
      ['?customer_ref=player-7', [b]],
      ['?customer_ref=nobody', []],
      ['?created_to=2020-01-01T00:00:00Z', []],
      ['?order=asc', [a, b, c]],
      ['?order=asc&asset=USD', [a, c]],
    ];
    for (const [query, ids] of cases) expect([query, idsOf(await listOnce(query, ids))]).toEqual([query, ids]);
    const first = await list('?limit=2');
    expect(idsOf(await list(`?limit=2&cursor=${first.next_cursor}`))).toEqual([a]);
  });
});

describe('a follower', () => {
  test('always has a cursor, and sees what comes later exactly once', async () => {
    const empty = await list('?order=asc');
    expect([empty.data, empty.has_more]).toEqual([[], false]);
    const [a, b, c] = [
      await moveNow(deposit('USD', 1n)),
      await moveNow(deposit('USD', 2n)),
      await moveNow(deposit('USD', 3n)),
    ];
    await listOnce(`?order=asc&cursor=${empty.next_cursor}`, [a, b, c]);
    const first = await list(`?order=asc&limit=2&cursor=${empty.next_cursor}`);
    expect([idsOf(first), first.has_more]).toEqual([[a, b], true]);
    const second = await list(`?order=asc&limit=2&cursor=${first.next_cursor}`);
    expect([idsOf(second), second.has_more]).toEqual([[c], false]);
    const none = await list(`?order=asc&limit=2&cursor=${second.next_cursor}`);
    expect([none.data, none.has_more, none.next_cursor]).toEqual([[], false, second.next_cursor]);
    const d = await moveNow(deposit('USD', 4n));
    expect(idsOf(await listOnce(`?order=asc&limit=2&cursor=${none.next_cursor}`, [d]))).toEqual([d]);
  });

  test('misses nothing that commits behind its cursor: a movement of a lower id appears once committed', async () => {
    const slow = await gateway.owner.connect();
    try {
      await slow.query('begin');
      const held = await move(queriesOf(slow), deposit('USD', 1n));
      const quick = await moveNow(deposit('EUR', 2n));

      // Newest first shows it at once; in commit order it has to wait for the older transaction that is still open.
      expect(idsOf(await list())).toEqual([quick]);
      const before = await list('?order=asc');
      expect(idsOf(before)).toEqual([]);

      await slow.query('commit');
      const after = await listOnce(`?order=asc&cursor=${before.next_cursor}`, [held, quick]);
      expect(idsOf(after)).toEqual([held, quick]);
      expect(idsOf(await list(`?order=asc&cursor=${after.next_cursor}`))).toEqual([]);
    } finally {
      slow.release();
    }
  });

  test('is not shown the movements of others, and its cursor passes them', async () => {
    const mine = await moveNow(deposit('USD', 1n));
    const first = await listOnce('?order=asc', [mine]);
    const me = merchant;
    merchant = await makeMerchant(gateway.tx);
    await moveNow(deposit('USD', 1n));
    merchant = me;
    let second = await list(`?order=asc&cursor=${first.next_cursor}`);
    while (second.next_cursor === first.next_cursor) second = await list(`?order=asc&cursor=${first.next_cursor}`);
    expect([idsOf(first), idsOf(second)]).toEqual([[mine], []]);
  });
});
