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
    const updated = hooks.filter(({ body }) => JSON.parse(String(body)).event === 'transaction.updated');
    expect(updated.map(({ body }) => JSON.parse(String(body)).transaction)).toMatchObject([
      { id, status: 'completed' },
    ]);
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
    const settled = await after.live.readChanges({ sinceCursor: snapshotBefore.cursor, limit: 10 });
    expect(settled).toMatchObject({ items: [{ transaction: { id, from: { amount: '2', balance: '14.5' } } }] });
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
