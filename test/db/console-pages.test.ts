import { findDeposit } from '../../src/db/deposits.js';
import { newId } from '../../src/db/new-id.js';
import { makePerson } from '../support/decisions.js';
import { makePageRows, type PageRows } from '../support/page-rows.js';
import { openTestPages, type TestBrowser, type TestPages } from '../support/pages.js';

/** What stands wherever others choose the words: a merchant's name, a provider's reason, a hash. */
const HOSTILE = `<script>alert('x')</script>"><img src=x onerror=alert(1)>`;

let pages: TestPages;
let rows: PageRows;
let merchantId: string;

beforeAll(async () => {
  pages = await openTestPages();
  for (const login of ['operator', 'operator2']) await makePerson(pages.owner, login);
  for (const role of ['admin', 'auditor']) await makePerson(pages.owner, role, [role]);
  merchantId = await pages.makeRequester('requester', `Nord & ${HOSTILE}`);
});
beforeEach(async () => {
  rows = await makePageRows(pages.owner, { merchantId, reason: HOSTILE, hash: `=cmd|'/c calc'!A1 ${newId('event')}` });
});
afterAll(() => pages.close());

async function signedIn(login: string): Promise<TestBrowser> {
  const browser = pages.browser('console');
  expect((await browser.signIn(login)).status).toBe(303);
  await browser.get('/operator');
  return browser;
}

/** What the form of a page carries beside what a person enters. */
const boundOf = (text: string) => ({
  stage: /name="stage" value="([^"]*)"/.exec(text)?.[1] ?? '',
  seen: /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? '',
});
const decisionsOn = async (id: string) =>
  (
    await pages.owner.query<{ choice: string; reason: string }>(
      'select choice, reason from sverka.decision where subject_id = $1',
      [id],
    )
  ).rows;

describe('a decision', () => {
  it('is recorded as the person saw it, under the own login, and the page says that it waits', async () => {
    const browser = await signedIn('operator');
    const page = await browser.get(`/operator/issuances/${rows.issuanceId}`);
    expect(page.text).toContain('We asked the card issuer to make this card and got no answer. It may exist.');
    const sent = await browser.post(`/operator/issuances/${rows.issuanceId}/decisions`, {
      ...boundOf(page.text),
      ...{ choice: 'link', link: 'icd_77', reason: 'the issuer’s desk, today' },
    });
    expect(sent.status).toBe(303);
    const { rows: left } = await pages.owner.query(
      `select d.choice, d.argument, d.reason, u.login from sverka.decision d join sverka."user" u on u.id = d.user_id
        where d.subject_id = $1`,
      [rows.issuanceId],
    );
    expect(left).toEqual([
      { choice: 'link', argument: 'icd_77', reason: 'the issuer’s desk, today', login: 'operator' },
    ]);
    const after = await browser.get(sent.headers.get('location') ?? '');
    expect(after.text).toContain('Your decision is recorded and not applied yet.');
  });

  it('of ten that two people send at once one is a row, and the others are 409', async () => {
    const two = [await signedIn('operator'), await signedIn('operator2')];
    const at = `/operator/deadletters/${rows.deadLetterId}`;
    const bound = boundOf((await (two[0] as TestBrowser).get(at)).text);
    await two[1]?.get(at);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (two[n % 2] as TestBrowser).post(`${at}/decisions`, { ...bound, choice: 'replay', reason: `try ${n}` }),
      ),
    );
    const counted = [303, 409].map((status) => answers.filter((answer) => answer.status === status).length);
    expect(counted).toEqual([1, 9]);
    expect(await decisionsOn(rows.deadLetterId)).toHaveLength(1);
    const late = answers.find(({ status }) => status === 409);
    expect(late?.text).toContain('Somebody has decided meanwhile');
  });

  it('on what has changed since it was shown is 409, and the page shows what is so now', async () => {
    const browser = await signedIn('operator');
    const at = `/operator/deposits/${rows.depositId}`;
    const bound = boundOf((await browser.get(at)).text);
    await pages.owner.query(
      `update sverka.deposit set flag = 'odd', contradiction = 'odd: 26 of 25', version = version + 1 where id = $1`,
      [rows.depositId],
    );
    const late = await browser.post(`${at}/decisions`, { ...bound, choice: 'reject', reason: 'a test' });
    expect(late.status).toBe(409);
    expect(late.text).toContain('It changed after you opened it');
    expect(late.text).toContain('odd: 26 of 25');
    expect(boundOf(late.text).seen).not.toBe(bound.seen);
    expect(await decisionsOn(rows.depositId)).toEqual([]);
    const now = await browser.post(`${at}/decisions`, { ...boundOf(late.text), choice: 'reject', reason: 'a test' });
    expect(now.status).toBe(303);
    expect(await decisionsOn(rows.depositId)).toEqual([{ choice: 'reject', reason: 'a test' }]);
  });

  it.each([
    ['no choice', { choice: '', reason: 'a test' }],
    ['a choice that is not possible', { choice: 'orphan', reason: 'a test' }],
    ['no reason', { choice: 'reject', reason: '  ' }],
    ['a reason that is too long', { choice: 'reject', reason: 'x'.repeat(1_001) }],
    ['a card number in its reason', { choice: 'reject', reason: 'card 4242 4242 4242 4242' }],
  ])('with %s is shown again with its errors, and nothing is kept', async (_, form) => {
    const browser = await signedIn('operator');
    const at = `/operator/deposits/${rows.depositId}`;
    const answer = await browser.post(`${at}/decisions`, { ...boundOf((await browser.get(at)).text), ...form });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('role="alert"');
    expect(await decisionsOn(rows.depositId)).toEqual([]);
  });

  it('is not offered to who may not decide', async () => {
    const auditor = await signedIn('auditor');
    const { text } = await auditor.get(`/operator/deposits/${rows.depositId}`);
    expect(text).toContain('Deciding takes the role operator or admin.');
    expect(text).not.toContain('name="seen"');
  });
});

describe('words that others choose', () => {
  it('are text on every page, and nothing else', async () => {
    const admin = await signedIn('admin');
    const paths = [
      ...['/operator', '/operator/decisions', '/operator/deposits', '/operator/issuances', '/operator/deadletters'],
      ...['/operator/merchants', '/operator/users', `/operator/merchants/${merchantId}`],
      ...[`/operator/deposits/${rows.depositId}`, `/operator/issuances/${rows.issuanceId}`],
      ...[`/operator/deadletters/${rows.deadLetterId}`, `/operator/trace/${merchantId}`],
      ...['/operator/balances', '/operator/balances/addresses', '/operator/balances/checks'],
      ...[`/operator/balances/${rows.balanceSourceKey}`, `/operator/balances/checks/${rows.balanceCheckId}`],
      `/operator/search?${new URLSearchParams({ q: HOSTILE }).toString()}`,
      `/operator/deposits?${new URLSearchParams({ q: HOSTILE, asset: HOSTILE }).toString()}`,
      `/operator/sign-in?${new URLSearchParams({ next: HOSTILE, link: HOSTILE }).toString()}`,
    ];
    let met = 0;
    for (const path of paths) {
      const { text } = await admin.get(path);
      expect([path, /<script|<img src=x|onerror=alert\(1\)>/.test(text)]).toEqual([path, false]);
      met += text.split('&lt;script&gt;').length - 1;
    }
    expect(met).toBeGreaterThan(10);
    const requester = pages.browser('cabinet');
    await requester.signIn('requester');
    const { text } = await requester.get(`/cabinet/deposits/${rows.depositId}`);
    expect([text.includes('<script'), text.includes('&lt;script&gt;')]).toEqual([false, true]);
  });

  it('are no formula in a CSV, which has the rows and columns of its page', async () => {
    const browser = await signedIn('operator');
    const query = new URLSearchParams({ state: 'parked', merchant: merchantId });
    const page = await browser.get(`/operator/deposits?${query.toString()}`);
    const href = /href="(\/operator\/deposits\?[^"]*format=csv[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&');
    const file = await browser.get(href ?? '');
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="deposits-live.csv"');
    const [head, ...lines] = file.text.trimEnd().split('\r\n');
    expect(head).toBe('id,merchant_id,merchant,reported,reported_asset,credited,credited_asset,state,created_at');
    const shown = [...page.text.matchAll(/href="\/operator\/deposits\/(dep_[0-9a-z]+)"/g)].map(([, id]) => id);
    expect(shown.length).toBeGreaterThan(1);
    expect(lines.map((line) => line.split(',')[0])).toEqual(shown);
    expect(file.text).not.toMatch(/(^|,)"?[=+@]/m);
  });
});

describe('a list', () => {
  it('pages by what was seen last, in the order and with the filters of its address', async () => {
    for (let n = 0; n < 30; n += 1) await makeMerchant(`Weit ${String(n).padStart(2, '0')}`);
    const browser = await signedIn('operator');
    const seen: string[] = [];
    let path: string | undefined = '/operator/merchants?q=weit&sort=name';
    for (let pagesSeen = 0; path !== undefined && pagesSeen < 5; pagesSeen += 1) {
      const { text } = await browser.get(path);
      seen.push(...[...text.matchAll(/>(Weit \d\d)</g)].map(([, name]) => name ?? ''));
      path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => `Weit ${String(n).padStart(2, '0')}`));
  });

  it.each(['?sort=hash', '?state=none', '?from=yesterday', '?after=a b', '?from=2026-02-31', '?q=%00'])(
    'with an address that means nothing is refused: %s',
    async (query) => {
      const browser = await signedIn('operator');
      expect((await browser.get(`/operator/deposits${query}`)).status).toBe(422);
    },
  );

  it('is of one book: what is live is not among what is test', async () => {
    const browser = await signedIn('operator');
    expect((await browser.get('/operator/deposits')).text).toContain(rows.depositId);
    const test = await browser.get('/operator/deposits?book=test');
    expect([test.text.includes(rows.depositId), test.text.includes('band-test')]).toEqual([false, true]);
    expect((await browser.get('/operator/issuances')).text).not.toContain(rows.issuanceId);
    const subject = await browser.get(`/operator/deposits/${rows.depositId}`);
    expect([subject.status, subject.text.includes('band-test')]).toEqual([200, false]);
  });
});

describe('the search', () => {
  it('leads to the page of what is meant by an id, a hash or a provider’s id', async () => {
    const browser = await signedIn('operator');
    const deposit = await findDeposit(pages.tx, { id: rows.depositId, book: 'live', merchantId });
    const to = async (q: string) =>
      (await browser.get(`/operator/search?${new URLSearchParams({ q }).toString()}`)).headers.get('location');
    for (const q of [rows.depositId, deposit?.txHash ?? '', ` ${rows.depositId} `]) {
      expect(await to(q)).toBe(`/operator/deposits/${rows.depositId}`);
    }
    expect(await to(rows.cardId)).toBe(`/operator/issuances/${rows.cardId}`);
    expect(await to(rows.movementId)).toBe(`/operator/trace/${rows.movementId}`);
    expect(await to(`T${rows.addressId}`)).toBe(`/operator/trace/${rows.addressId}`);
  });

  it('lists cards of the same last four digits, and says so when nothing is known', async () => {
    for (const id of [rows.cardId, (await makePageRows(pages.owner, { merchantId })).cardId]) {
      await pages.owner.query(`update sverka.card set last4 = '7788' where id = $1`, [id]);
    }
    const browser = await signedIn('operator');
    const { text } = await browser.get('/operator/search?q=7788');
    expect(text.match(/\/operator\/issuances\/card_[0-9a-z]+/g)).toHaveLength(2);
    expect((await browser.get('/operator/search?q=nothing')).text).toContain('Nothing is known by this.');
  });

  it('does not look for a secret that was pasted', async () => {
    const browser = await signedIn('operator');
    const { text } = await browser.get('/operator/search?q=sk_live_abcdefgh');
    expect(text).toContain('That is a secret');
    expect([text.includes('sk_live_abcdefgh'), pages.logLines.join('').includes('sk_live_abcdefgh')]).toEqual([
      false,
      false,
    ]);
  });
});

describe('an admin', () => {
  it('makes a merchant and a key, which is shown once and never again', async () => {
    const admin = await signedIn('admin');
    const made = await admin.post('/operator/merchants', { name: 'Südwind' });
    const at = made.headers.get('location') ?? '';
    expect(at).toMatch(/^\/operator\/merchants\/mer_/);
    const shown = await admin.post(`${at}/keys`, { book: 'test', access: 'read_only' });
    const key = /sk_test_[A-Za-z0-9]{43}/.exec(shown.text)?.[0] ?? '';
    expect(key).not.toBe('');
    const again = await admin.get(at);
    expect([again.text.includes(key), /key_[0-9a-z]{26}/.test(again.text)]).toEqual([false, true]);
    expect(pages.logLines.join('')).not.toContain(key);
    const keyId = /key_[0-9a-z]{26}/.exec(again.text)?.[0] ?? '';
    expect((await admin.post(`/operator/keys/${keyId}/revoke`)).headers.get('location')).toBe(at);
    const { rows: keys } = await pages.owner.query('select revoked_at from sverka.api_key where id = $1', [keyId]);
    expect(keys[0].revoked_at).not.toBeNull();
  });

  it('makes a person, gives a link, changes roles, ends sessions and shuts out; each counts at once', async () => {
    const admin = await signedIn('admin');
    const made = await admin.post('/operator/users', { login: 'nina', roles: 'operator', merchant: '' });
    const at = made.headers.get('location') ?? '';
    const link = /sign-in\?link=([A-Za-z0-9_-]{43})/.exec((await admin.post(`${at}/link`)).text)?.[1] ?? '';
    const nina = pages.browser('console');
    expect((await nina.post('/operator/sign-in', { link })).status).toBe(303);
    expect((await nina.get('/operator/users')).status).toBe(403);
    await admin.get(at);
    expect((await admin.post(`${at}/roles`, { roles: 'auditor' })).status).toBe(303);
    expect((await nina.get('/operator/users')).status).toBe(200);
    expect((await admin.post(`${at}/sessions`)).status).toBe(303);
    expect((await nina.get('/operator')).status).toBe(303);
    expect((await admin.post(`${at}/disabled`, { disabled: 'yes' })).status).toBe(303);
    expect((await admin.post(`${at}/link`)).status).toBe(404);
  });

  it.each([
    ['a login that is taken', { login: 'operator', roles: 'operator' }, 409],
    ['a role that nobody has', { login: 'paul', roles: 'king' }, 422],
    ['our role of a requester', { login: 'paul', roles: 'requester' }, 422],
    ['a merchant that is not there', { login: 'paul', roles: '', merchant: `mer_${'0'.repeat(26)}` }, 422],
  ])('cannot make a person with %s', async (_, form, status) => {
    const admin = await signedIn('admin');
    expect((await admin.post('/operator/users', form)).status).toBe(status);
  });
});

async function makeMerchant(name: string): Promise<void> {
  await pages.owner.query('select sverka.create_merchant($1, $2)', [newId('merchant'), name]);
}
