import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareCursors } from '../../src/providers/pert/cursor.js';
import { namePertSubject, readPertNotification, verifyPertWebhook } from '../../src/providers/pert/webhook.js';
import { eventually, type ReceivedHook, TEST_SECRET } from '../support/simulated-custody.js';
import { type SimulatedPert, startSimulatedPert } from '../support/simulated-pert.js';

let pert: SimulatedPert;
beforeAll(async () => {
  pert = await startSimulatedPert();
});
afterAll(() => pert.close());
beforeEach(async () => {
  await pert.drive('POST', '/_sim/reset');
  pert.liveHooks.received.length = 0;
});

const move = (body: object) => pert.drive('POST', '/_sim/transactions', { currency: 'USD', ...body });
const arrive = (to: string, amount = '10') => move({ from: null, to, amount });
const fault = (body: object) => pert.drive('POST', '/_sim/faults', { match: {}, times: 1, ...body });
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

  test('holds a hundred thousand entries of many addresses, and serves its end as fast as its beginning', async () => {
    const { cursor } = await snapshot();
    const many = Array.from({ length: 2_000 }, (_, index) => `w-${index}`);
    await move({ from: null, to: many, amount: '3.5', count: 100_000, webhooks: false });
    const { cursor: end } = await snapshot();
    let read = await page(cursor);
    let count = read.transactions.length;
    for (; read.hasMore; count += read.transactions.length) read = await page(read.nextCursor ?? '');
    expect([count, read.nextCursor]).toEqual([100_000, end]);
    expect(await usd()).toMatchObject({ balance: '350000' });
    expect(await addresses()).toMatchObject({ 'w-7': { balance: '175' } });
  });
});

describe('The faults of the journal', () => {
  const five = async () => {
    const { cursor } = await snapshot();
    await move({ from: null, to: ['a', 'b', 'c', 'd', 'e'], amount: '1', count: 5, webhooks: false });
    return cursor;
  };

  test('lying_more says that there is more on the last page, or that there is none before it', async () => {
    const cursor = await five();
    await fault({ fault: 'lying_more', value: true });
    expect(await page(cursor)).toMatchObject({ hasMore: true });
    await fault({ fault: 'lying_more', value: false });
    expect(await page(cursor, 2)).toMatchObject({ hasMore: false });
    await fault({ fault: 'lying_more' });
    expect(await page(cursor, 2)).toMatchObject({ hasMore: false });
    expect(await page(cursor, 2)).toMatchObject({ hasMore: true });
  });

  test('repeated_page answers the page before once more, with its cursor', async () => {
    const cursor = await five();
    const first = await page(cursor, 2);
    await fault({ fault: 'repeated_page' });
    expect(await page(first.nextCursor ?? '', 2)).toEqual(first);
    expect((await page(first.nextCursor ?? '', 2)).transactions).toMatchObject([{ to: { address: 'c' } }, {}]);
  });

  test('silently_fewer answers an old cursor with what is left', async () => {
    const cursor = await five();
    await pert.drive('POST', '/_sim/retention', { keep: 2 });
    await fault({ fault: 'silently_fewer' });
    expect((await page(cursor)).transactions).toMatchObject([{ to: { address: 'd' } }, { to: { address: 'e' } }]);
    expect(await pert.live.readChanges({ sinceCursor: cursor, limit: 5 })).toEqual({ tooOld: true });
  });

  test('growing makes a transaction while a page is read', async () => {
    const cursor = await five();
    await fault({ fault: 'growing', times: 2 });
    const first = await page(cursor);
    expect([first.items.length, first.hasMore]).toEqual([5, true]);
    const second = await page(first.nextCursor ?? '');
    expect([second.items.length, second.hasMore]).toEqual([1, true]);
    expect(await page(second.nextCursor ?? '')).toMatchObject({
      hasMore: false,
      transactions: [{ to: { balance: '3' } }],
    });
    expect(await usd()).toMatchObject({ balance: '7' });
    await eventually(() => pert.liveHooks.received.length === 2);
  });

  test('are met by calls of the journal alone', async () => {
    await fault({ fault: 'lying_more', value: true });
    await snapshot();
    expect((await pert.drive('GET', '/_sim/faults')).faults).toMatchObject([{ fault: 'lying_more', hits: 0 }]);
  });

  test.each([
    [{ fault: 'lying_more', value: 'yes' }],
    [{ fault: 'no_next_cursor', value: 7 }],
    [{ fault: 'bad_item', index: -1 }],
    [{ fault: 'growing', match: { event_type: 'transaction.created' } }],
    [{ fault: 'growing', times: -1 }],
    [{ fault: 'toString' }],
  ])('that are told wrongly (%j) are refused', async (body) => {
    await expect(fault(body)).rejects.toThrow(/400/);
    expect((await pert.drive('GET', '/_sim/faults')).faults).toEqual([]);
  });
});

describe('A webhook of the simulated Pert', () => {
  const headersOf = (hook: ReceivedHook | undefined) =>
    new Headers({
      'x-webhook-signature': String(hook?.headers['x-webhook-signature']),
      'x-webhook-event-id': String(hook?.headers['x-webhook-event-id']),
    });
  const verdict = (hook: ReceivedHook | undefined) =>
    verifyPertWebhook({
      rawBody: hook?.body ?? Buffer.of(),
      headers: headersOf(hook),
      secrets: [TEST_SECRET],
      nowMs: 0,
    });
  const received = (count: number) =>
    eventually(() => pert.liveHooks.received.length >= count && pert.liveHooks.received);

  test('carries the transaction of the journal, exactly, and names it', async () => {
    const { cursor } = await snapshot();
    const { id } = await arrive('a', '9007199254740993.5');
    const [hook] = await received(1);
    expect(verdict(hook)).toBe('ok');
    const [transaction] = (await page(cursor)).transactions;
    expect(readPertNotification(hook?.body ?? Buffer.of())).toEqual({ ok: true, transaction });
    expect(namePertSubject(hook?.body ?? Buffer.of(), headersOf(hook))).toMatchObject({
      deliveryId: expect.stringMatching(/^pwh_/),
      eventType: 'transaction.created',
      subject: { type: 'transaction', ref: id },
    });
  });

  test('comes as transaction.updated, under an id of its own, when what was held is settled', async () => {
    await arrive('a');
    const { id } = await move({ from: 'a', to: null, amount: '1', held: true });
    await pert.drive('PATCH', `/_sim/transactions/${id}`, { status: 'completed' });
    const hooks = await received(3);
    const types = hooks.map(({ body }) => JSON.parse(String(body)).event).sort();
    expect(types).toEqual(['transaction.created', 'transaction.created', 'transaction.updated']);
    expect(new Set(hooks.map(({ headers }) => headers['x-webhook-event-id'])).size).toBe(3);
  });

  test('is sent again until it is taken, and can be dropped, doubled, delayed, overtaken and forged', async () => {
    pert.hookAnswers.push(503);
    await arrive('a');
    await received(2);
    const on = (body: object) => fault({ match: { event_type: 'transaction.*' }, ...body });
    await on({ fault: 'drop' });
    await arrive('b');
    await on({ fault: 'reorder' });
    const late = await arrive('c');
    const early = await arrive('d');
    const ids = (await received(4)).slice(2).map(({ body }) => JSON.parse(String(body)).transaction.id);
    expect(ids).toEqual([early.id, late.id]);
    pert.hookAnswers.push(401);
    await on({ fault: 'forge' });
    await arrive('e');
    expect((await received(6)).slice(4).map(verdict)).toEqual(['bad', 'ok']);
    await on({ match: { reference: 'f' }, fault: 'double', times: 3 });
    await arrive('f');
    await arrive('g');
    expect(await received(10)).toHaveLength(10);
  });

  test('can be followed by the same id with other content, well signed and with its numbers', async () => {
    await fault({ fault: 'changed_body', body: { event: 'transaction.updated' } });
    await arrive('a');
    const [genuine, changed] = await received(2);
    expect([verdict(genuine), verdict(changed)]).toEqual(['ok', 'ok']);
    expect(changed?.headers['x-webhook-event-id']).toBe(genuine?.headers['x-webhook-event-id']);
    expect(readPertNotification(changed?.body ?? Buffer.of())).toEqual(
      readPertNotification(genuine?.body ?? Buffer.of()),
    );
    expect(JSON.parse(String(changed?.body))).toMatchObject({
      event: 'transaction.updated',
      changed_by_simulator: true,
    });
  });
});

describe('The world of the simulated Pert', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-simulator-pert-'));
  const stateFile = join(folder, 'pert.json');
  afterAll(() => rmSync(folder, { recursive: true }));

  test('outlives a restart: balances, what is in flight and frozen, versions, and cursors given out', async () => {
    const before = await startSimulatedPert({ stateFile });
    const drive = (body: object) => before.drive('POST', '/_sim/transactions', { currency: 'USD', ...body });
    await drive({ from: null, to: ['a', 'b'], amount: '5.5', count: 6 });
    const { cursor } = await before.live.readCurrencies();
    const { id } = await drive({ from: 'a', to: null, amount: '2', held: true });
    await before.drive('PATCH', '/_sim/balances', { currency: 'USD', frozen: '3' });
    await before.drive('POST', '/_sim/retention', { keep: 4 });
    const [snapshotBefore, pageBefore, truthBefore] = [
      await before.live.readCurrencies(),
      await before.live.readChanges({ sinceCursor: cursor, limit: 10 }),
      (await before.truth()).objects,
    ];
    await before.close();

    const after = await startSimulatedPert({ stateFile });
    expect(await after.live.readCurrencies()).toEqual(snapshotBefore);
    expect(await after.live.readChanges({ sinceCursor: cursor, limit: 10 })).toEqual(pageBefore);
    expect((await after.truth()).objects).toEqual(truthBefore);
    await after.drive('PATCH', `/_sim/transactions/${id}`, { status: 'completed' });
    const page = await after.live.readChanges({ sinceCursor: snapshotBefore.cursor, limit: 10 });
    expect(page).toMatchObject({ items: [{ transaction: { id, from: { amount: '2', balance: '14.5' } } }] });
    await after.close();
  });

  test('may begin where cursors become longer: the longer one is the newer', async () => {
    const edge = await startSimulatedPert({ firstPosition: 20 ** 3 - 2 });
    const { cursor } = await edge.live.readCurrencies();
    await edge.drive('POST', '/_sim/transactions', { from: null, to: 'a', currency: 'USD', amount: '1', count: 4 });
    const { cursor: end, minCursor } = await edge.live.readCurrencies();
    expect([cursor.length, end.length]).toEqual([3, 4]);
    expect(compareCursors(cursor, end)).toBe(-1);
    expect(minCursor).toBe(cursor);
    expect(await edge.live.readChanges({ sinceCursor: cursor, limit: 10 })).toMatchObject({ nextCursor: end });
    await edge.close();
  });
});
