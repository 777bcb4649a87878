import { CABINET_ROUTES } from '../../src/http/cabinet/routes.js';
import { CONSOLE_ROUTES } from '../../src/http/console/routes.js';
import type { Audience } from '../../src/http/pages/call.js';
import { makePerson } from '../support/decisions.js';
import { makePageRows, type PageRows } from '../support/page-rows.js';
import { openTestPages, type TestBrowser, type TestPages } from '../support/pages.js';

const OURS = ['operator', 'approver', 'admin', 'auditor'] as const;

let pages: TestPages;
let own: PageRows;
let foreign: PageRows;
const browsers = new Map<string, TestBrowser>();

beforeAll(async () => {
  pages = await openTestPages();
  for (const role of OURS) await makePerson(pages.owner, role, [role]);
  const merchantId = await pages.makeRequester('requester', 'Nordwind');
  own = await makePageRows(pages.owner, { merchantId });
  foreign = await makePageRows(pages.owner, { merchantId: await pages.makeRequester('stranger', 'Fremdwind') });
});
afterAll(() => pages.close());

async function signedIn(audience: Audience, login: string): Promise<TestBrowser> {
  const known = browsers.get(login);
  if (known) return known;
  const browser = pages.browser(audience);
  expect((await browser.signIn(login)).status).toBe(303);
  await browser.get(audience === 'console' ? '/operator' : '/cabinet');
  browsers.set(login, browser);
  return browser;
}

/** A thing of each kind that a row can name: a new kind needs a line here, or its rows fail. */
const idOf = (names: string, rows: PageRows): string => {
  const ids: Readonly<Record<string, string>> = {
    anything: rows.addressId,
    'balance check': rows.balanceCheckId,
    'balance source': rows.balanceSourceKey,
    card: rows.cardId,
    'dead letter': rows.deadLetterId,
    deposit: rows.depositId,
    'deposit address': rows.addressId,
    issuance: rows.issuanceId,
    key: rows.keyId,
    merchant: rows.merchantId,
    movement: rows.movementId,
    user: userId,
    withdrawal: rows.withdrawalId,
    destination: rows.destinationId,
  };
  const id = ids[names];
  if (id === undefined) throw new Error(`There is no example of a ${names}: add one, so that its pages are tried.`);
  return id;
};
let userId = '';
beforeAll(async () => {
  const { rows } = await pages.owner.query<{ id: string }>(`select id from sverka."user" where login = 'stranger'`);
  userId = rows[0]?.id ?? '';
});

const pathOf = (path: string, names: string | null, rows: PageRows) => {
  if (names === null) expect(path).not.toContain(':id');
  if (names === null) return path.replace(':file', 'none');
  return path.replace(':id', idOf(names, rows)).replace(':proof', rows.proofId);
};
const rowsOf = (routes: readonly { method: 'GET' | 'POST'; path: string; roles: unknown; names: string | null }[]) =>
  routes
    .filter(({ roles }) => roles !== 'anyone')
    .map(({ method, path, roles, names }) => [method, path, { roles, names }] as const);

describe.each(rowsOf(CONSOLE_ROUTES))('%s %s', (method, path, { roles, names }) => {
  it('is for its roles alone, and for nobody who has not signed in', async () => {
    const at = pathOf(path, names, own);
    const stranger = pages.browser('console');
    const sent = method === 'GET' ? await stranger.get(at) : await stranger.post(at);
    expect([sent.status, sent.headers.get('location')?.split('?')[0]]).toEqual([303, '/operator/sign-in']);
    for (const role of OURS) {
      const browser = await signedIn('console', role);
      const answer = method === 'GET' ? await browser.get(at) : await browser.post(at, { csrf: 'wrong' });
      const isAllowed = (roles as readonly string[]).includes(role);
      // A form without its token is refused as well: what tells the two apart is tried for the roles that may.
      if (method === 'GET') expect([role, answer.status]).toEqual([role, isAllowed ? 200 : 403]);
      else expect([role, answer.status]).toEqual([role, 403]);
      if (method === 'GET') continue;
      const { status } = await browser.post(pathOf(path, names, foreign));
      expect([role, status === 403]).toEqual([role, !isAllowed]);
    }
  });
});

describe.each(rowsOf(CABINET_ROUTES))('%s %s', (method, path, { names }) => {
  it('shows a requester what is his, and nothing of another merchant or of the other book', async () => {
    const browser = await signedIn('cabinet', 'requester');
    const stranger = pages.browser('cabinet');
    if (method === 'POST') {
      expect((await stranger.post(pathOf(path, names, own))).status).toBe(303);
      expect((await browser.post(pathOf(path, names, own), { csrf: 'wrong' })).status).toBe(403);
      // What is asked of another merchant's thing is asked of nothing; an empty form of one's own is answered.
      const { status } = await browser.post(pathOf(path, names, names === null ? own : foreign));
      expect(status).toBe(names === null ? 422 : 404);
      return;
    }
    expect((await stranger.get(pathOf(path, names, own))).status).toBe(303);
    const mine = await browser.get(`${pathOf(path, names, own)}?book=live`);
    expect(mine.status).toBe(200);
    if (names === null) {
      for (const id of Object.values(foreign)) expect(mine.text).not.toContain(id);
      return;
    }
    expect((await browser.get(pathOf(path, names, foreign))).status).toBe(404);
    expect((await browser.get(`${pathOf(path, names, own)}?book=test`)).status).toBe(404);
    await browser.get('/cabinet?book=live');
  });
});

it('a row of a table without a handler for its object is seen', () => {
  expect(() => idOf('something new', own)).toThrow('There is no example of a something new');
});

describe('what has no row', () => {
  it.each(['/', '/operator/withdraw', '/operator/deposits/', '/cabinet', '/operator/../cabinet', '/v1/wallet'])(
    'is not served: %s',
    async (path) => {
      const browser = await signedIn('console', 'admin');
      expect((await browser.get(path)).status).toBe(404);
    },
  );

  it('is refused by its method where the path has another', async () => {
    const browser = await signedIn('console', 'admin');
    expect((await browser.post('/operator/search')).status).toBe(405);
    expect((await browser.get(`/operator/deposits/${own.depositId}/decisions`)).status).toBe(405);
  });
});

describe('a form', () => {
  const decisions = () => `/operator/deposits/${own.depositId}/decisions`;
  const sent = { choice: 'reject', reason: 'a test' };

  it.each<[what: string, headers: Record<string, string>]>([
    ['another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { origin: 'http://localhost:9', 'sec-fetch-site': 'same-site' }],
    ['no origin that can be named', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['our origin, says it, and another site, says the browser', { 'sec-fetch-site': 'cross-site' }],
  ])('from %s is refused, though it has the cookie and the token', async (_, headers) => {
    const browser = await signedIn('console', 'operator');
    expect((await browser.post(decisions(), sent, headers)).status).toBe(403);
  });

  it('without the token of its session, or with that of another session, is refused', async () => {
    const [operator, admin] = [await signedIn('console', 'operator'), await signedIn('console', 'admin')];
    const theirs = /name="csrf" value="([^"]+)"/.exec((await admin.get('/operator')).text)?.[1] ?? '';
    expect(theirs).toMatch(/^[A-Za-z0-9_-]{43}$/);
    for (const csrf of ['', 'x', theirs])
      expect((await operator.post(decisions(), { ...sent, csrf })).status).toBe(403);
  });

  it('that is too large, or no form, is refused', async () => {
    const browser = await signedIn('console', 'operator');
    expect((await browser.post(decisions(), { ...sent, reason: 'x'.repeat(70_000) })).status).toBe(413);
    const other = await browser.post(decisions(), sent, { 'content-type': 'application/json' });
    expect(other.status).toBe(400);
  });

  it('has changed nothing in all of this', async () => {
    expect((await pages.owner.query('select from sverka.decision')).rowCount).toBe(0);
  });
});

it('every answer is bound to our own style and forms, is kept by nobody, and tells no other site of it', async () => {
  const browser = await signedIn('console', 'operator');
  for (const path of ['/operator', '/operator/none', '/operator/sign-in', `/operator/deposits/${own.depositId}`]) {
    const { headers, text } = await browser.get(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).not.toMatch(/<script|<style|\sstyle=|\son[a-z]+=|javascript:/i);
  }
  const style = /href="(\/operator\/assets\/console\.[0-9a-f]{16}\.css)"/.exec(
    (await browser.get('/operator')).text,
  )?.[1];
  const served = await pages.browser('console').get(style ?? '');
  expect([served.status, served.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
});

it('a page that fails says the trace and nothing of ours; one without a database says to come again', async () => {
  const browser = await signedIn('console', 'operator');
  await pages.owner.query('alter table sverka.alert rename to alert_away');
  const failed = await browser.get('/operator');
  await pages.owner.query('alter table sverka.alert_away rename to alert');
  expect(failed.status).toBe(500);
  expect(failed.text).toMatch(/Trace [0-9a-f]{32}/);
  expect(failed.text).not.toMatch(/sverka\.alert|relation|does not exist/);
});
