import { raiseAlert } from '../../src/db/alerts.js';
import { type BalancesAsked, listBalances } from '../../src/db/balance-listing.js';
import { inTransaction } from '../../src/db/transaction.js';
import { makePerson } from '../support/decisions.js';
import { makePageRows, type PageRows } from '../support/page-rows.js';
import { openTestPages, type TestBrowser, type TestPages } from '../support/pages.js';

let pages: TestPages;
let rows: PageRows;
let account: string;

beforeAll(async () => {
  pages = await openTestPages();
  for (const role of ['operator', 'auditor', 'approver']) await makePerson(pages.owner, role, [role]);
  const merchantId = await pages.makeRequester('requester', 'Nordwind');
  rows = await makePageRows(pages.owner, { merchantId, reason: 'from.balance is missing' });
  account = rows.balanceSourceKey.split(':')[2] ?? '';
});
afterAll(() => pages.close());

async function signedIn(login: string): Promise<TestBrowser> {
  const browser = pages.browser('console');
  expect((await browser.signIn(login)).status).toBe(303);
  await browser.get('/operator');
  return browser;
}
const at = () => `/operator/balances/${encodeURIComponent(rows.balanceSourceKey)}`;
/** What the form of a page carries beside what a person enters. */
const boundOf = (text: string) => ({
  stage: /name="stage" value="([^"]*)"/.exec(text)?.[1] ?? '',
  seen: /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? '',
});
const decisions = async () =>
  (
    await pages.owner.query<Record<string, string>>(
      `select d.subject_type, d.choice, d.reason, u.login from sverka.decision d join sverka."user" u on u.id = d.user_id
        where d.subject_id = $1 order by d.created_at`,
      [rows.balanceSourceKey],
    )
  ).rows;
/** What a reader sees of a page, without its tags. */
const seen = (text: string) => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const textOf = async (browser: TestBrowser, path: string) => {
  const { status, text } = await browser.get(path);
  expect([path, status]).toEqual([path, 200]);
  return seen(text);
};

describe('the page of a source', () => {
  it('shows its currencies, how it stands, what could not be read and its comparisons; bodies never', async () => {
    const browser = await signedIn('operator');
    const { text } = await browser.get(at());
    const shown = seen(text);
    for (const part of [
      ...[account, 'Nordwind', 'c100', 'USDT', '1,040 .25', '1,050 .25', '1,045 .25', '−10', 'some addresses stale'],
      ...['tx-from.balance is missing', 'from.balance is missing', rows.balanceCheckId, 'Differs', 'the clock'],
      'compared → back-filled → compared',
    ]) {
      expect(shown).toContain(part);
    }
    expect(text).not.toContain('never shown');
  });

  it('speaks Russian as well', async () => {
    const browser = await signedIn('operator');
    const { text } = await browser.get(at(), { 'accept-language': 'ru' });
    for (const word of ['Источник', 'Наша сумма', 'Начать заново с их снимка', 'Сравнить сейчас', 'Расходится']) {
      expect(text).toContain(word);
    }
  });

  it('takes a decision as the person saw it, under the own login, and says "look" to who mirrors it', async () => {
    const browser = await signedIn('operator');
    const page = await browser.get(at());
    const before = pages.nudged.length;
    const form = { ...boundOf(page.text), choice: 'rebase', reason: 'Pert has corrected it, call of today' };
    const sent = await browser.post(`${at()}/decisions`, form);
    expect(sent.status).toBe(303);
    expect(await decisions()).toEqual([
      { subject_type: 'balance_source', choice: 'rebase', reason: form.reason, login: 'operator' },
    ]);
    expect(pages.nudged.slice(before)).toEqual([{ book: 'live', provider: 'pert', account }]);
    const after = await browser.get(sent.headers.get('location') ?? '');
    expect(after.text).toContain('Your decision is recorded and not applied yet.');
    expect(seen(after.text)).toContain('Begin anew from their snapshot');
    // Twice is once: this stage is decided.
    expect((await browser.post(`${at()}/decisions`, form)).status).toBe(409);
    expect(await decisions()).toHaveLength(1);
  });

  it('refuses one on what has changed since it was shown, and shows what is so now', async () => {
    const browser = await signedIn('operator');
    const bound = boundOf((await browser.get(at())).text);
    await pages.owner.query('update sverka.balance_source set resets = resets + 1 where key = $1', [
      rows.balanceSourceKey,
    ]);
    const late = await browser.post(`${at()}/decisions`, { ...bound, choice: 'rebase', reason: 'a test' });
    expect([late.status, late.text.includes('It changed after you opened it')]).toEqual([409, true]);
    await pages.owner.query('update sverka.balance_source set resets = resets - 1 where key = $1', [
      rows.balanceSourceKey,
    ]);
    expect(await decisions()).toHaveLength(1);
  });

  it.each(['auditor', 'approver'])('offers no decision and no comparison to a person who is %s', async (login) => {
    const browser = await signedIn(login);
    const { text } = await browser.get(at());
    expect(text).toContain('Deciding takes the role operator or admin.');
    expect([text.includes('name="seen"'), text.includes('Compare now')]).toEqual([false, false]);
    const form = { stage: '1', seen: '', choice: 'rebase', reason: 'a test' };
    expect((await browser.post(`${at()}/decisions`, form)).status).toBe(403);
    expect((await browser.post(`${at()}/check`)).status).toBe(403);
  });

  it('has it compared before its time, which decides nothing', async () => {
    const browser = await signedIn('operator');
    const [count, before] = [(await decisions()).length, pages.nudged.length];
    const sent = await browser.post(`${at()}/check`);
    expect(sent.status).toBe(303);
    const { rows: asked } = await pages.owner.query(
      'select asked, next_check_at <= now() as due from sverka.balance_source where key = $1',
      [rows.balanceSourceKey],
    );
    expect(asked).toEqual([{ asked: 'operator', due: true }]);
    expect([pages.nudged.length - before, (await decisions()).length]).toEqual([1, count]);
    expect(await textOf(browser, sent.headers.get('location') ?? '')).toContain('it is compared in a moment');
  });

  it('is not there for a source that is not', async () => {
    const browser = await signedIn('operator');
    expect((await browser.get('/operator/balances/live:pert:nothing')).status).toBe(404);
    expect((await browser.get('/operator/balances/checks/bchk_00000000000000000000000000')).status).toBe(404);
  });
});

describe('the lists', () => {
  it('have currencies with what is stated and what differs, in the chosen book', async () => {
    const browser = await signedIn('operator');
    const shown = await textOf(browser, '/operator/balances');
    for (const part of [account, 'USDT', '1,040 .25', '1,050 .25', '−10', 'some addresses stale']) {
      expect(shown).toContain(part);
    }
    expect(await textOf(browser, `/operator/balances?source=${account}&currency=BTC`)).toContain('Nothing matches.');
    expect(await textOf(browser, '/operator/balances?book=test')).toContain('No account is mirrored in this book.');
    await browser.get('/operator?book=live');
  });

  it('page addresses by what was seen last, with their filters, also as CSV', async () => {
    await pages.owner.query(
      `insert into sverka.balance_address (source_id, address, currency, balance, version, resets, read_at, base_number,
         seen_version, seen_before)
       select s.id, 'weit ' || lpad(n::text, 2, '0'), case when n % 2 = 0 then 'BTC' else 'ETH' end, n, 1, n % 3 % 2, now(),
           1, 1, 0
         from sverka.balance_source s, generate_series(1, 60) n where s.key = $1`,
      [rows.balanceSourceKey],
    );
    const browser = await signedIn('operator');
    const all = async (query: string) => {
      const found: string[] = [];
      let path: string | undefined = `/operator/balances/addresses?source=${account}&${query}`;
      for (let looks = 0; path !== undefined && looks < 9; looks += 1) {
        const { text } = await browser.get(path);
        found.push(...[...text.matchAll(/class="addr">weit (\d\d)</g)].map(([, n]) => n ?? ''));
        path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      }
      return found.map(Number);
    };
    const numbers = Array.from({ length: 60 }, (_, n) => n + 1);
    expect(await all('')).toEqual(numbers);
    expect(await all('currency=BTC')).toEqual(numbers.filter((n) => n % 2 === 0));
    expect(await all('stale=yes')).toEqual(numbers.filter((n) => (n % 3) % 2 === 0));
    expect(await all('stale=no&currency=ETH')).toEqual(numbers.filter((n) => n % 3 === 1 && n % 2 === 1));
    expect(await all('address=weit%2007')).toEqual([7]);
    const file = await browser.get(`/operator/balances/addresses?format=csv&currency=BTC&source=${account}`);
    const lines = file.text.trimEnd().split('\r\n');
    expect([lines[0], lines.length]).toEqual(['address,currency,source,balance,stale,version,last_read_at', 31]);
    expect((await browser.get('/operator/balances/addresses?after=AAAA')).status).toBe(422);
    expect((await browser.get('/operator/balances/addresses?stale=maybe')).status).toBe(422);
  });

  it('have comparisons by source and result, each with a page that says what differed', async () => {
    const browser = await signedIn('operator');
    expect(await textOf(browser, `/operator/balances/checks?source=${account}&result=differs`)).toContain(
      rows.balanceCheckId,
    );
    expect(await textOf(browser, '/operator/balances/checks?result=healed')).not.toContain(rows.balanceCheckId);
    const shown = await textOf(browser, `/operator/balances/checks/${rows.balanceCheckId}`);
    for (const part of [
      'Differs',
      'USDT',
      '1,040 .25',
      '1,050 .25',
      '−10',
      'the clock',
      'Balances compared: Differs',
    ]) {
      expect(shown).toContain(part);
    }
  });
});

describe('the ways to them', () => {
  it('are the menu, the home page, and the search by source, address and check', async () => {
    const browser = await signedIn('operator');
    const home = await browser.get('/operator');
    expect(home.text).toContain('href="/operator/balances"');
    expect(seen(home.text)).toContain('1 of 1 currency differs');
    const to = async (q: string) =>
      (await browser.get(`/operator/search?${new URLSearchParams({ q }).toString()}`)).headers.get('location');
    expect(await to(account)).toBe(at());
    expect(await to(rows.balanceSourceKey)).toBe(at());
    expect(await to(rows.balanceCheckId)).toBe(`/operator/balances/checks/${rows.balanceCheckId}`);
    const address = `${account} from.balance is missing`;
    const found = (await to(address)) ?? '';
    expect(found).toBe(`/operator/balances/addresses?${new URLSearchParams({ address, book: 'live' }).toString()}`);
    expect(await textOf(browser, found)).toContain('Stale');
  });

  it('are alerts: each leads to the source or the comparison that it is about', async () => {
    const of = { book: 'live', detail: 'a test' };
    const source = { type: 'balance_source', id: rows.balanceSourceKey };
    await raiseAlert(pages.tx, { ...of, key: 'a', kind: 'unreadable_record', subject: source });
    await raiseAlert(pages.tx, { ...of, key: 'b', kind: 'cursor_missing', subject: source });
    const check = { type: 'balance_check', id: rows.balanceCheckId };
    await raiseAlert(pages.tx, { ...of, key: 'c', kind: 'balance_difference', subject: check });
    const browser = await signedIn('operator');
    for (const [kind, href] of [
      ['unreadable_record', at()],
      ['cursor_missing', at()],
      ['balance_difference', `/operator/balances/checks/${rows.balanceCheckId}`],
    ]) {
      expect((await browser.get(`/operator/alerts?kind=${kind}`)).text).toContain(`href="${href}"`);
    }
    expect(await textOf(browser, `/operator/trace/${rows.balanceSourceKey}`)).toContain('unreadable_record');
  });
});

it('a page of addresses reads few rows, however many there are; without the indexes it would read most', async () => {
  await pages.owner.query(
    `insert into sverka.balance_address (source_id, address, currency, balance, version, resets, read_at, base_number,
       seen_version, seen_before)
     select s.id, 'many-' || n, case when n = 77777 then 'RARE' else 'USDT' end, 1, 1, case when n between 88000 and 88100 then 0 else 1 end,
         now(), 1, 1, 0
       from sverka.balance_source s, generate_series(1, 100000) n where s.key = $1`,
    [rows.balanceSourceKey],
  );
  await pages.owner.query('analyze sverka.balance_address');
  // Rows that one page reads, by the counts of its own transaction.
  const readsOf = (asked: Partial<BalancesAsked>) =>
    inTransaction(pages.owner, async (tx) => {
      const all = { book: 'live', merchantId: null, by: 'address', filters: {}, stale: undefined } as const;
      const found = await listBalances(tx, { ...all, after: null, limit: 25, ...asked });
      const [read] = await tx.query<{ scans: number; rows: number }>(
        `select seq_scan::int as scans, (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
          where relid = 'sverka.balance_address'::regclass`,
      );
      return { found: found.length, ...read };
    });
  const after = `${account} many-5 USDT`;
  const cases: [asked: Partial<BalancesAsked>, found: number][] = [
    [{}, 26],
    [{ after }, 26],
    [{ filters: { 's.account': [account] }, after }, 26],
    [{ filters: { 'b.currency': ['RARE'] } }, 1],
    [{ filters: { 'b.currency': ['USDT'] }, after }, 26],
    [{ filters: { 'b.address': ['many-5'] } }, 1],
    [{ stale: true, after: `${account} many-1 USDT` }, 26],
    [{ stale: false, after }, 26],
  ];
  for (const [asked, found] of cases) {
    const read = await readsOf(asked);
    expect([asked, read.found, read.scans]).toEqual([asked, found, 0]);
    expect(read.rows).toBeLessThan(500);
  }
  await pages.owner.query('drop index sverka.balance_address_currency, sverka.balance_address_reset');
  for (const asked of [{ filters: { 'b.currency': ['RARE'] } }, { stale: true, after: `${account} many-1 USDT` }]) {
    expect((await readsOf(asked)).rows).toBeGreaterThan(10_000);
  }
});
