import { compareCursors } from '../../src/providers/pert/cursor.js';
import { type SimulatedPert, startSimulatedPert } from '../support/simulated-pert.js';

let pert: SimulatedPert;
beforeAll(async () => {
  pert = await startSimulatedPert();
});
afterAll(() => pert.close());
beforeEach(async () => {
  await pert.drive('POST', '/_sim/reset');
});

const move = (body: object) => pert.drive('POST', '/_sim/transactions', { currency: 'USD', ...body });
const arrive = (to: string, amount = '10') => move({ from: null, to, amount });
const snapshot = () => pert.live.readCurrencies();
async function page(sinceCursor: string, limit = 1_000) {
  const read = await pert.live.readChanges({ sinceCursor, limit });
  if (read.tooOld) throw new Error('A page was expected.');
  const transactions = read.items.flatMap((item) => (item.ok ? [item.transaction] : []));
  return { ...read, transactions };
}
const usd = async () => (await snapshot()).currencies.find(({ currency }) => currency === 'USD');
const addresses = async () =>
  Object.fromEntries(
    (await pert.truth()).objects.addresses?.map((each) => [JSON.parse(JSON.stringify(each)).address, each]) ?? [],
  );

describe('Money at the simulated Pert', () => {
  test('comes in, moves and leaves, and each side states its balance right after', async () => {
    const { cursor } = await snapshot();
    await arrive('a', '10');
    await move({ from: 'a', to: 'b', amount: '4.25' });
    await move({ from: 'b', to: null, amount: '0.000000000000000001' });
    const { transactions } = await page(cursor);
    expect(transactions.map(({ from, to }) => [from, to])).toEqual([
      [null, { address: 'a', amount: '10', balance: '10' }],
      [
        { address: 'a', amount: '4.25', balance: '5.75' },
        { address: 'b', amount: '4.25', balance: '4.25' },
      ],
      [{ address: 'b', amount: '0.000000000000000001', balance: '4.249999999999999999' }, null],
    ]);
    expect(await usd()).toEqual({
      currency: 'USD',
      balance: '9.999999999999999999',
      frozen: '0',
      held: '0',
      available: '9.999999999999999999',
    });
    expect(await addresses()).toMatchObject({ a: { balance: '5.75' }, b: { balance: '4.249999999999999999' } });
  });

  test('may move within one address, which changes its version alone', async () => {
    await arrive('a', '10');
    const { cursor } = await snapshot();
    await move({ from: 'a', to: 'a', amount: '3' });
    const side = { address: 'a', amount: '3', balance: '10' };
    expect((await page(cursor)).transactions).toMatchObject([{ from: side, to: side }]);
  });

  test('has versions beyond 2^53 that go up by less than a double can tell, as bare numbers', async () => {
    const { cursor } = await snapshot();
    for (const address of ['a', 'b', 'a']) await arrive(address, '9007199254740993');
    const versions = (await page(cursor)).transactions.map(({ balanceVersion }) => balanceVersion);
    const [first = 0n] = versions;
    expect(first).toBeGreaterThan(2n ** 53n);
    expect(versions).toEqual([first, first + 1n, first + 2n]);
    const { text } = await pert.wire(`/transactions/changes?since_cursor=${cursor}`);
    expect(text).toContain(`"balance_version":${first},`);
    expect(text).toContain('"amount":9007199254740993,"balance":9007199254740993}');
    expect(text).toContain('"balance":18014398509481986}');
    const currencies = await pert.wire('/asset/balances/currencies');
    expect(currencies.text).toContain('"balance":27021597764222979,"frozen":"0"');
  });

  test.each([
    [{ from: 'a', to: 'b', amount: '10.01' }, 422],
    [{ from: 'nobody', to: 'b', amount: '1' }, 422],
    [{ from: ['a', 'nobody'], to: 'b', amount: '1', count: 2 }, 422],
    [{ from: 'a', to: null, amount: '6', count: 2 }, 422],
    [{ from: 'a', to: 'b', amount: '0' }, 400],
    [{ from: 'a', to: 'b', amount: '-1' }, 400],
    [{ from: 'a', to: 'b', amount: 1 }, 400],
    [{ from: 'a', to: 'b', amount: '1e3' }, 400],
    [{ from: null, to: null, amount: '1' }, 400],
    [{ from: 'a', to: [], amount: '1' }, 400],
    [{ from: 7, to: 'b', amount: '1' }, 400],
    [{ from: 'a', to: 'b', amount: '1', currency: '' }, 400],
    [{ from: 'a', to: 'b', amount: '1', count: 0 }, 400],
    [{ from: null, to: 'b', amount: '1', count: 10_001 }, 400],
    [{ from: null, to: 'b', amount: '1', held: true }, 400],
    [{ from: 'a', to: 'b', amount: '1', fee: '1' }, 400],
    [{ from: 'a', to: 'b', amount: '1', book: 'nobody' }, 404],
  ])('does not move as %j asks: %p, and nothing is changed', async (body, status) => {
    await arrive('a', '10');
    const before = await snapshot();
    await expect(move(body)).rejects.toThrow(String(status));
    expect(await snapshot()).toEqual(before);
    expect(Object.keys(await addresses())).toEqual(['a']);
  });

  test('moves many times at once, from and to many in turn', async () => {
    const { cursor } = await snapshot();
    const made = await move({ from: null, to: ['a', 'b', 'c'], amount: '2', count: 4, webhooks: false });
    expect(made).toMatchObject({ count: 4, cursor: (await snapshot()).cursor });
    await expect(move({ from: ['a', 'b'], to: 'd', amount: '1', count: 9, webhooks: false })).rejects.toThrow(/422/);
    await move({ from: ['a', 'b'], to: 'd', amount: '1', count: 4, webhooks: false });
    expect(await addresses()).toMatchObject({ a: { balance: '2' }, b: { balance: '0' }, d: { balance: '4' } });
    expect((await page(cursor)).transactions.map(({ to }) => to?.address).join('')).toBe('abcadddd');
    expect((await pert.truth()).webhooks).toEqual([]);
  });
});

describe('What is in flight at the simulated Pert', () => {
  test.each([
    ['completed', { balance: '6', held: '0', available: '6' }, '4', '6'],
    ['failed', { balance: '10', held: '0', available: '10' }, '0', '10'],
  ])('is held, and %s in a version of its own', async (status, expected, amount, balance) => {
    await arrive('a', '10');
    const { cursor } = await snapshot();
    const { id } = await move({ from: 'a', to: null, amount: '4', held: true });
    expect(await usd()).toMatchObject({ balance: '10', held: '4', available: '6' });
    await pert.drive('PATCH', `/_sim/transactions/${id}`, { status });
    expect(await usd()).toMatchObject(expected);
    const { transactions } = await page(cursor);
    expect(transactions).toMatchObject([
      { id, status: 'pending', from: { address: 'a', amount: '0', balance: '10' }, to: null },
      { id, status, from: { address: 'a', amount, balance }, to: null },
    ]);
    const [first, second] = transactions;
    expect(second?.createdAt).toBe(first?.createdAt);
    expect(Number((second?.balanceVersion ?? 0n) - (first?.balanceVersion ?? 0n))).toBe(1);
    await expect(pert.drive('PATCH', `/_sim/transactions/${id}`, { status })).rejects.toThrow(/409/);
  });

  test('cannot be spent twice, nor can what is frozen', async () => {
    await arrive('a', '10');
    await move({ from: 'a', to: null, amount: '4', held: true });
    await expect(move({ from: 'a', to: 'b', amount: '7' })).rejects.toThrow(/422/);
    expect(await pert.drive('PATCH', '/_sim/balances', { currency: 'USD', frozen: '5' })).toMatchObject({
      available: '1',
    });
    expect(await usd()).toEqual({ currency: 'USD', balance: '10', frozen: '5', held: '4', available: '1' });
    await expect(move({ from: 'a', to: null, amount: '2' })).rejects.toThrow(/422/);
    await move({ from: 'a', to: 'b', amount: '6' });
    await expect(pert.drive('PATCH', '/_sim/balances', { currency: 'USD', frozen: '7' })).rejects.toThrow(/422/);
    await expect(pert.drive('PATCH', '/_sim/balances', { currency: 'EUR', frozen: '1' })).rejects.toThrow(/404/);
  });

  test('is settled only as completed or failed, and only where there is something', async () => {
    const { id } = await arrive('a');
    await expect(pert.drive('PATCH', `/_sim/transactions/${id}`, { status: 'paid' })).rejects.toThrow(/400/);
    await expect(pert.drive('PATCH', `/_sim/transactions/${id}`, { status: 'failed' })).rejects.toThrow(/409/);
    await expect(pert.drive('PATCH', `/_sim/transactions/${id}x`, { status: 'failed' })).rejects.toThrow(/404/);
    await expect(pert.drive('PATCH', '/_sim/transactions/ptx_9', { status: 'failed' })).rejects.toThrow(/404/);
  });
});

describe('The journal of the simulated Pert', () => {
  test('is one space with the snapshots, in the order of R2', async () => {
    const seen = [(await snapshot()).cursor];
    for (let made = 0; made < 5; made += 1) {
      await arrive('a');
      seen.push((await snapshot()).cursor);
    }
    expect([...seen].reverse().sort(compareCursors)).toEqual(seen);
    for (const cursor of seen) expect(cursor).toMatch(/^[a-z]+$/);
    const read = await page(seen[0] ?? '', 2);
    expect(read).toMatchObject({ nextCursor: seen[2], hasMore: true });
    expect(await page(seen[2] ?? '', 3)).toMatchObject({ nextCursor: seen[5], hasMore: false });
    expect(await page(seen[5] ?? '')).toMatchObject({ items: [], nextCursor: seen[5], hasMore: false });
  });

  test('keeps so much as is told; what is older is 410, the edge itself is not', async () => {
    const { cursor } = await snapshot();
    await move({ from: null, to: 'a', amount: '1', count: 10, webhooks: false });
    const kept = await pert.drive('POST', '/_sim/retention', { keep: 4 });
    const { minCursor } = await snapshot();
    expect(kept).toMatchObject({ book: 'live', min_cursor: minCursor, entries: 4 });
    expect(compareCursors(cursor, minCursor)).toBe(-1);
    expect((await page(minCursor)).transactions).toHaveLength(4);
    const old = await pert.wire(`/transactions/changes?since_cursor=${cursor}`);
    expect([old.status, JSON.parse(old.text).error]).toEqual([410, 'cursor_too_old']);
    await pert.drive('POST', '/_sim/retention', { keep: 100 });
    expect((await snapshot()).minCursor).toBe(minCursor);
    await expect(pert.drive('POST', '/_sim/retention', { keep: -1 })).rejects.toThrow(/400/);
  });

  test('goes on after a reset, so that no cursor and no version means something else', async () => {
    await arrive('a');
    const before = await snapshot();
    const { id } = await arrive('a');
    const last = await snapshot();
    await pert.drive('POST', '/_sim/reset');
    expect(await snapshot()).toEqual({ cursor: last.cursor, minCursor: last.cursor, currencies: [] });
    expect(await pert.live.readChanges({ sinceCursor: before.cursor, limit: 5 })).toEqual({ tooOld: true });
    expect((await arrive('a')).id).not.toBe(id);
  });

  test.each([
    ['', 400],
    ['?since_cursor=', 400],
    ['?since_cursor=17', 400],
    ['?since_cursor=zzzzzzzzzzzz', 400],
    ['?since_cursor=c&limit=0', 400],
    ['?since_cursor=c&limit=1001', 400],
    ['?since_cursor=c&limit=x', 400],
    ['?since_cursor=c', 410],
  ])('answers %p with %p', async (query, status) => {
    expect((await pert.wire(`/transactions/changes${query}`)).status).toBe(status);
  });

  test('has pages of 100 unless asked otherwise, and of 1000 at most', async () => {
    const { cursor } = await snapshot();
    await move({ from: null, to: ['a', 'b'], amount: '1', count: 1_500, webhooks: false });
    const plain = JSON.parse((await pert.wire(`/transactions/changes?since_cursor=${cursor}`)).text);
    expect([plain.items.length, plain.has_more]).toEqual([100, true]);
    expect((await page(cursor, 1_000)).items).toHaveLength(1_000);
  });

  test('is of one account: its key sees nothing of another, and no key sees nothing', async () => {
    const { cursor } = await pert.test.readCurrencies();
    await move({ from: null, to: 'a', amount: '1', book: 'test' });
    expect((await snapshot()).currencies).toEqual([]);
    expect((await pert.test.readCurrencies()).currencies).toHaveLength(1);
    expect(await pert.test.readChanges({ sinceCursor: cursor, limit: 5 })).toMatchObject({ items: [{ ok: true }] });
    for (const headers of [{}, { authorization: 'Bearer x' }, { authorization: 'live-key' }]) {
      for (const path of ['/asset/balances/currencies', `/transactions/changes?since_cursor=${cursor}`]) {
        expect((await pert.wire(path, headers)).status).toBe(401);
      }
    }
  });

  test('holds many entries of many addresses, over many chunks of its memory', async () => {
    const { cursor } = await snapshot();
    const many = Array.from({ length: 2_000 }, (_, index) => `w-${index}`);
    await move({ from: null, to: many, amount: '3.5', count: 20_000, webhooks: false });
    const { cursor: end } = await snapshot();
    let read = await page(cursor);
    let count = read.transactions.length;
    for (; read.hasMore; count += read.transactions.length) read = await page(read.nextCursor ?? '');
    expect([count, read.nextCursor]).toEqual([20_000, end]);
    expect(await usd()).toMatchObject({ balance: '70000' });
    expect(await addresses()).toMatchObject({ 'w-7': { balance: '35' } });
  });
});
