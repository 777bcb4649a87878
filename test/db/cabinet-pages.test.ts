import { leg } from '../../src/domain/journal.js';
import { movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { makePageRows, type PageRows } from '../support/page-rows.js';
import { openTestPages, type TestBrowser, type TestPages } from '../support/pages.js';

let pages: TestPages;
let rows: PageRows;
let browser: TestBrowser;

beforeAll(async () => {
  pages = await openTestPages();
  const merchantId = await pages.makeRequester('requester', 'Nordwind');
  rows = await makePageRows(pages.owner, { merchantId });
  const purse = await openPurse(pages.owner, { asset: 'EUR', merchantId });
  const out = movement([leg(purse.wallet, -100n), leg(purse.hold, 100n)], { kind: 'issuance_hold' });
  await postNow(pages.owner, out);
  for (let n = 0; n < 30; n += 1) {
    await postNow(pages.owner, movement([leg(purse.clearing, -1n), leg(purse.wallet, 1n)], { kind: 'airdrop_credit' }));
  }
  browser = pages.browser('cabinet');
  await browser.signIn('requester');
});
afterAll(() => pages.close());

const figures = (text: string) =>
  [...text.matchAll(/<data class="amt[^"]*" value="([^"]+)"/g)].map(([, value]) => value);

it('the wallet is what the journal says, book by book', async () => {
  expect(figures((await browser.get('/cabinet')).text)).toEqual([
    ...['1249.80', '1.00', '0.00', '0.00', '0.00'],
    ...['8.000000', '2.000000', '0.000000', '0.000000', '0.000000'],
  ]);
  const test = await browser.get('/cabinet?book=test');
  expect([figures(test.text), test.text.includes('Test book')]).toEqual([[], true]);
  await browser.get('/cabinet?book=live');
});

it('a statement has every movement once, page by page, each balance after the one before it', async () => {
  const seen: (string | undefined)[][] = [];
  let path: string | undefined = '/cabinet/statement?asset=EUR&sort=time';
  for (let n = 0; path !== undefined && n < 5; n += 1) {
    const { text } = await browser.get(path);
    const values = figures(text);
    for (let at = 0; at < values.length; at += 2) seen.push(values.slice(at, at + 2));
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(seen).toHaveLength(32);
  const minor = (text: string | undefined) => BigInt((text ?? '').replace('.', ''));
  let balance = 0n;
  for (const [amount, after] of seen) {
    balance += minor(amount);
    expect(minor(after)).toBe(balance);
  }
});

it('the CSV of a statement is what it shows, and a debit is a figure in it', async () => {
  const query = 'asset=EUR&kind=issuance_hold';
  const page = await browser.get(`/cabinet/statement?${query}`);
  expect(figures(page.text)).toEqual(['-1.00', '1249.50']);
  const file = await browser.get(`/cabinet/statement?${query}&format=csv&book=live`);
  const [head, line, ...more] = file.text.trimEnd().split('\r\n');
  expect(head).toBe('recorded_at,movement_id,kind,subject_id,amount,asset,balance');
  expect(line).toMatch(/^\d{4}-[^,]+Z,mov_[0-9a-z]{26},issuance_hold,dep_test,-1\.00,EUR,1249\.50$/);
  expect(more).toEqual([]);
});

it('an address is shown whole with a code of its own, which is a picture and nothing else', async () => {
  const page = await browser.get(`/cabinet/addresses/${rows.addressId}`);
  expect(page.text.replaceAll(/<\/?b>/g, '')).toContain(`T${rows.addressId}`);
  const code = await browser.get(`/cabinet/addresses/${rows.addressId}/code.svg`);
  expect([code.status, code.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(code.text).toMatch(
    /^<svg xmlns="[^"]+" viewBox="-4 -4 \d+ \d+"><rect [^>]+><path d="[Mhvz\d -]+" fill="#000"\/>/,
  );
});

it('an unknown card is shown as unknown, never as failed, and nothing of it but what the API shows', async () => {
  const { text } = await browser.get(`/cabinet/cards/${rows.cardId}`);
  expect(text).toContain('got no answer. It may exist.');
  expect(text).not.toMatch(/worker:|issuer<|main-live|run\b/);
});
