import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { applyWithdrawalDecision } from '../../src/db/withdrawal-doors.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { balanceOf } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestPages, type TestBrowser, type TestPages } from '../support/pages.js';
import { ASSET, openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';

let pages: TestPages;
let it: Withdrawing;
let merchant: TestBrowser;
beforeAll(async () => {
  pages = await openTestPages();
  it = await openWithdrawing(pages.database);
  merchant = await signedIn('cabinet', it.requester);
});
afterAll(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
  await pages.close();
});

async function signedIn(audience: 'console' | 'cabinet', userId: string): Promise<TestBrowser> {
  const { rows } = await it.owner.query<{ login: string }>(`select login from sverka."user" where id = $1`, [userId]);
  const browser = pages.browser(audience);
  await browser.signIn(rows[0]?.login ?? '');
  return browser;
}

const wallet = () => balanceOf(it.owner, it.purse.wallet);
const record = (id: string) => readWithdrawal(queriesOf(it.owner), id);
const apply = (id: string) =>
  inTransaction(it.worker, (tx) => applyWithdrawalDecision(tx, { id, traceId: newTraceId() }, null));
const field = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

/** Fills in the form of the cabinet; answers the id of what it led to. */
async function request(amount = '20.000000'): Promise<string> {
  const form = await merchant.get('/cabinet/withdrawals/new');
  const target = `${it.destinationId} ${ASSET}`;
  const fee = field(form.text, `fee ${target}`);
  const sent = { key: field(form.text, 'key'), target, [`fee ${target}`]: fee, amount };
  const answer = await merchant.post('/cabinet/withdrawals', sent);
  expect(answer.status).toBe(303);
  // A double click asks once.
  expect((await merchant.post('/cabinet/withdrawals', sent)).headers.get('location')).toBe(
    answer.headers.get('location'),
  );
  return answer.headers.get('location')?.split('/').at(-1) ?? '';
}

/** Opens the page of the console and sends its form. */
async function decide(browser: TestBrowser, id: string, { page, ...form }: Record<string, string>) {
  const shown = page ?? (await browser.get(`/operator/withdrawals/${id}`)).text;
  const bound = { stage: field(shown, 'stage'), seen: field(shown, 'seen') };
  return browser.post(`/operator/withdrawals/${id}/decisions`, { ...bound, reason: 'asked the merchant', ...form });
}

test('is asked for in the cabinet, approved by another in the console, and completed with proof alone', async () => {
  const before = await wallet();
  const id = await request();
  expect(await wallet()).toBe(before - 21_000_000n);
  const [approver, operator] = [await signedIn('console', it.approver), await signedIn('console', it.operator)];
  expect((await decide(operator, id, { choice: 'approve', route: 'manual' })).status).toBe(403);
  expect((await decide(approver, id, { choice: 'approve', route: 'pigeon' })).status).toBe(422);
  expect((await decide(approver, id, { choice: 'approve', route: 'manual', reason: '' })).status).toBe(422);
  expect((await decide(approver, id, { choice: 'approve', route: 'manual' })).status).toBe(303);
  await apply(id);
  expect((await decide(operator, id, { choice: 'pay' })).status).toBe(303);
  await apply(id);
  expect((await decide(operator, id, { choice: 'complete' })).status).toBe(422);
  expect((await decide(operator, id, { choice: 'complete', hash: '<script>' })).status).toBe(422);
  expect((await record(id)).state).toBe('submitted');
  expect((await merchant.get(`/cabinet/withdrawals/${id}`)).text).toContain('20.000000');
  const audit = await it.owner.query(
    `select count(*)::int as n from sverka.audit where subject_id = $1 and reason like 'refused: %'`,
    [id],
  );
  expect(audit.rows[0]?.n).toBe(1);
});

test('of two people who look at the same, the second is told that somebody has decided', async () => {
  const id = await request();
  const [one, other] = [await signedIn('console', it.approver), await signedIn('console', it.approver2)];
  const seen = (await other.get(`/operator/withdrawals/${id}`)).text;
  expect((await decide(one, id, { choice: 'reject' })).status).toBe(303);
  expect((await decide(other, id, { choice: 'approve', route: 'custody', page: seen })).status).toBe(409);
  await apply(id);
  expect((await decide(other, id, { choice: 'approve', route: 'custody', page: seen })).status).toBe(409);
  expect((await record(id)).state).toBe('rejected');
});

test('edited between the view and the click, it refuses the click', async () => {
  const id = await request();
  const approver = await signedIn('console', it.approver);
  const seen = (await approver.get(`/operator/withdrawals/${id}`)).text;
  const page = await merchant.get(`/cabinet/withdrawals/${id}`);
  const target = `${it.destinationId} ${ASSET}`;
  const change = { target, [`fee ${target}`]: field(page.text, `fee ${target}`), amount: '25.000000', version: '1' };
  expect((await merchant.post(`/cabinet/withdrawals/${id}/edit`, change)).status).toBe(303);
  expect((await decide(approver, id, { choice: 'approve', route: 'custody', page: seen })).status).toBe(409);
  // The edit of a page that is old by now.
  expect((await merchant.post(`/cabinet/withdrawals/${id}/edit`, change)).status).toBe(409);
  expect((await merchant.post(`/cabinet/withdrawals/${id}/cancel`, { version: '2' })).status).toBe(303);
  expect((await record(id)).state).toBe('cancelled');
});

test('names what stands against a request, and keeps what was entered', async () => {
  const target = `${it.destinationId} ${ASSET}`;
  const sent = { key: 'x', target, [`fee ${target}`]: '1.000000', amount: '1000000.5' };
  const refused = await merchant.post('/cabinet/withdrawals', sent);
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('value="1000000.5"')]);
  expect(refused.text).toContain('The wallet does not cover amount and fee.');
  const cheaper = await merchant.post('/cabinet/withdrawals', { ...sent, amount: '5', [`fee ${target}`]: '0.5' });
  expect([cheaper.status, cheaper.text]).toEqual([409, expect.stringContaining('The fee has changed meanwhile')]);
  for (const amount of ['-1', '1e3', '1.0000001', '٢', '']) {
    expect([amount, (await merchant.post('/cabinet/withdrawals', { ...sent, amount })).status]).toEqual([amount, 422]);
  }
});

test('a destination is added with its cooling-off, and removed by its own merchant alone', async () => {
  const added = { label: 'Treasury', network: 'tron', address: 'TAnother', tag: '' };
  expect((await merchant.post('/cabinet/destinations', added)).status).toBe(303);
  expect((await merchant.post('/cabinet/destinations', { ...added, address: 'a b' })).status).toBe(422);
  const page = await merchant.get('/cabinet/destinations');
  const id = /destinations\/(wdd_[0-9a-z]{26})\/remove/.exec(page.text)?.[1] ?? '';
  await pages.makeRequester('stranger', 'Another');
  const stranger = pages.browser('cabinet');
  await stranger.signIn('stranger');
  await stranger.get('/cabinet/destinations');
  expect((await stranger.post(`/cabinet/destinations/${id}/remove`)).status).toBe(404);
  expect((await merchant.post(`/cabinet/destinations/${id}/remove`)).status).toBe(303);
});
