import { loadConfig } from '../../src/config.js';
import { signInCheck } from '../../src/http/checks.js';
import type { Audience } from '../../src/http/pages/call.js';
import { createIdentityProvider } from '../../src/http/pages/identity-provider.js';
import { makePerson } from '../support/decisions.js';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.js';
import { ORIGINS, openTestPages, type TestBrowser, type TestPages } from '../support/pages.js';

const OWN = { 'sec-fetch-site': 'same-origin' };
const HOMES: Readonly<Record<Audience, string>> = { console: '/operator', cabinet: '/cabinet' };

let there: TestIdentityProvider;
let pages: TestPages;
let admin: TestBrowser;

beforeAll(async () => {
  there = await startIdentityProvider([
    `${ORIGINS.console}/operator/sign-in/callback`,
    `${ORIGINS.cabinet}/cabinet/sign-in/callback`,
  ]);
  pages = await openTestPages({ identityProvider: providerOf(there) });
  const id = await makePerson(pages.owner, 'anna', ['admin']);
  await pages.owner.query('select sverka.link_identity($1, $2, $3, $4)', [id, there.issuer, 'sub-anna', 'setup']);
  admin = await signedIn('console', 'sub-anna');
});
afterAll(async () => {
  await pages?.close();
  await there?.stop();
});

function providerOf({ issuer, clientId, clientSecret }: TestIdentityProvider, of: Record<string, string> = {}) {
  const settings = {
    SVERKA_OIDC_ISSUER: issuer,
    SVERKA_OIDC_CLIENT_ID: clientId,
    SVERKA_OIDC_CLIENT_SECRET: clientSecret,
  };
  const provider = createIdentityProvider(loadConfig({ DATABASE_URL: 'postgres://one/two', ...settings, ...of }));
  if (provider === null) throw new Error('The settings name a provider.');
  return provider;
}

/** The browser is sent away; answers where to. */
async function away(browser: TestBrowser, next = ''): Promise<string> {
  const query = next === '' ? '' : `?${new URLSearchParams({ next }).toString()}`;
  const sent = await browser.get(`${HOMES[browser.audience]}/sign-in/start${query}`, OWN);
  expect(sent.status).toBe(303);
  return sent.headers.get('location') ?? '';
}

const back = (browser: TestBrowser, address: URL) => browser.get(`${address.pathname}${address.search}`);

async function signedIn(audience: Audience, subject: string): Promise<TestBrowser> {
  const browser = pages.browser(audience);
  const entered = await back(browser, await there.visit(await away(browser), subject));
  expect([entered.status, entered.headers.get('location')]).toEqual([303, HOMES[audience]]);
  return browser;
}

/** Links as the admin does, in the console. */
async function link(userId: string, subject: string) {
  await admin.get(`/operator/users/${userId}`);
  return admin.post(`/operator/users/${userId}/identities`, { subject });
}

const userOf = async (login: string) => {
  const found = await pages.owner.query<{ id: string; person: string }>(
    'select id, person from sverka."user" where login = $1',
    [login],
  );
  return found.rows[0] ?? { id: '', person: '' };
};

async function isNobody(browser: TestBrowser): Promise<void> {
  const home = await browser.get(HOMES[browser.audience]);
  expect([home.status, home.headers.get('location')]).toEqual([303, `${HOMES[browser.audience]}/sign-in`]);
}

it('with an identity provider there is one button, and links open nothing', async () => {
  const browser = pages.browser('console');
  const shown = await browser.get('/operator/sign-in?next=/operator/alerts');
  expect(shown.text).toContain('href="/operator/sign-in/start?next=%2Foperator%2Falerts"');
  expect(shown.text).not.toContain('name="link"');
  expect((await browser.signIn('anna')).status).toBe(404);
  const user = await userOf('anna');
  await admin.get(`/operator/users/${user.id}`);
  expect((await admin.post(`/operator/users/${user.id}/link`)).status).toBe(404);
});

it('the browser is sent away with a fresh state, nonce and challenge, and nothing that it must keep secret', async () => {
  const browser = pages.browser('console');
  const first = new URL(await away(browser, '/operator/alerts'));
  const second = new URL(await away(pages.browser('console')));
  const { searchParams: said } = first;
  expect(first.origin).toBe(there.issuer);
  expect([said.get('response_type'), said.get('code_challenge_method')]).toEqual(['code', 'S256']);
  expect(said.get('redirect_uri')).toBe(`${ORIGINS.console}/operator/sign-in/callback`);
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(said.get(name)).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(second.searchParams.get(name)).not.toBe(said.get(name));
  }
  expect(first.href).not.toContain('alerts');
  const { rows } = await pages.owner.query<{ verifier: string }>('select verifier from sverka.sign_in_attempt');
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(rows.filter(({ verifier }) => first.href.includes(verifier))).toEqual([]);
});

it('another site starts no sign-in', async () => {
  const browser = pages.browser('console');
  for (const site of ['cross-site', 'same-site', 'none']) {
    const sent = await browser.get('/operator/sign-in/start', { 'sec-fetch-site': site });
    expect([site, sent.headers.get('location')]).toEqual([site, '/operator/sign-in']);
  }
  expect(browser.cookies.size).toBe(0);
});

it('a linked person comes back to the page that was wanted, with a cookie of that host alone', async () => {
  const browser = pages.browser('console');
  const entered = await back(browser, await there.visit(await away(browser, '/operator/alerts'), 'sub-anna'));
  expect(entered.headers.get('location')).toBe('/operator/alerts');
  expect(entered.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-sverka_console=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(/^__Host-sverka_console_sign_in=; .*Max-Age=0$/),
  ]);
  expect((await browser.get('/operator')).text).toContain('anna');
});

it('it leads to a page of ours and nowhere else', async () => {
  for (const next of ['//evil.example', 'https://evil.example/operator', '/operator/../x', '/operator/sign-out']) {
    const browser = pages.browser('console');
    const entered = await back(browser, await there.visit(await away(browser, next), 'sub-anna'));
    expect([next, entered.headers.get('location')]).toEqual([next, '/operator']);
  }
});

it('signing out ends the session itself', async () => {
  const browser = await signedIn('console', 'sub-anna');
  const token = browser.cookies.get('__Host-sverka_console') ?? '';
  await browser.get('/operator');
  expect((await browser.post('/operator/sign-out')).status).toBe(303);
  browser.cookies.set('__Host-sverka_console', token);
  await isNobody(browser);
});

it('an identity that nobody linked is refused, and told what to give to an admin', async () => {
  const browser = pages.browser('console');
  const answer = await back(browser, await there.visit(await away(browser), 'sub-stranger'));
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('sub-stranger');
  expect(answer.text).toContain(there.issuer);
  await isNobody(browser);
  await makePerson(pages.owner, 'stranger', ['operator']);
  expect((await link((await userOf('stranger')).id, 'sub-stranger')).status).toBe(303);
  expect((await (await signedIn('console', 'sub-stranger')).get('/operator')).text).toContain('stranger');
});

it('what is unlinked signs in no more, and is signed out', async () => {
  const id = await makePerson(pages.owner, 'leaver', ['operator']);
  await link(id, 'sub-leaver');
  const browser = await signedIn('console', 'sub-leaver');
  await admin.get(`/operator/users/${id}`);
  const form = { issuer: there.issuer, subject: 'sub-leaver' };
  expect((await admin.post(`/operator/users/${id}/identities/unlink`, form)).status).toBe(303);
  await isNobody(browser);
  expect((await back(browser, await there.visit(await away(browser), 'sub-leaver'))).status).toBe(403);
});

it('a disabled person does not come in', async () => {
  const id = await makePerson(pages.owner, 'disabled', ['operator']);
  await link(id, 'sub-disabled');
  await pages.owner.query('update sverka."user" set disabled_at = now() where id = $1', [id]);
  const browser = pages.browser('console');
  expect((await back(browser, await there.visit(await away(browser), 'sub-disabled'))).status).toBe(403);
});

it('nobody but an admin links, and a subject that is another person there is refused', async () => {
  const id = await makePerson(pages.owner, 'olga', ['operator', 'approver']);
  await link(id, 'sub-olga');
  const olga = await signedIn('console', 'sub-olga');
  await olga.get('/operator');
  expect((await olga.post(`/operator/users/${id}/identities`, { subject: 'sub-x' })).status).toBe(403);
  const other = await makePerson(pages.owner, 'oleg', ['operator']);
  const taken = await link(other, 'sub-olga');
  expect([taken.status, taken.text.includes('signs in as another person')]).toEqual([422, true]);
  expect((await link(other, ' ')).status).toBe(422);
});

describe('two logins of one identity are one person', () => {
  it('also in console and cabinet, whichever is linked first', async () => {
    await pages.makeRequester('rita', 'Nordwind');
    await makePerson(pages.owner, 'rita-of-ours', ['approver']);
    const [rita, ours] = [await userOf('rita'), await userOf('rita-of-ours')];
    expect(rita.person).not.toBe(ours.person);
    await link(rita.id, 'sub-rita');
    await link(ours.id, 'sub-rita');
    expect((await userOf('rita')).person).toBe((await userOf('rita-of-ours')).person);
    expect((await (await signedIn('cabinet', 'sub-rita')).get('/cabinet')).text).toContain('Nordwind');
    expect((await (await signedIn('console', 'sub-rita')).get('/operator')).text).toContain('rita-of-ours');
  });

  it('and stay it, also where the first was unlinked before', async () => {
    await makePerson(pages.owner, 'first', ['operator']);
    await makePerson(pages.owner, 'second', ['approver']);
    const [first, second] = [await userOf('first'), await userOf('second')];
    await link(first.id, 'sub-twice');
    const form = { issuer: there.issuer, subject: 'sub-twice' };
    await admin.post(`/operator/users/${first.id}/identities/unlink`, form);
    await link(second.id, 'sub-twice');
    expect((await userOf('second')).person).toBe((await userOf('first')).person);
  });

  it('also when both are linked at the same time', async () => {
    await pages.makeRequester('both-cabinet');
    await makePerson(pages.owner, 'both-console', ['approver']);
    const ids = [(await userOf('both-cabinet')).id, (await userOf('both-console')).id];
    await Promise.all(
      ids.map((id) =>
        pages.owner.query('select sverka.link_identity($1, $2, $3, $4), pg_sleep(0.2)', [
          id,
          there.issuer,
          'sub-both',
          'test',
        ]),
      ),
    );
    expect((await userOf('both-cabinet')).person).toBe((await userOf('both-console')).person);
  });
});

describe('what comes back is refused, and nobody is signed in', () => {
  /** Comes back, after a change to what the provider sent; answers the page. */
  async function comeBack(change: (address: URL) => void, of: { sent?: (address: URL) => void } = {}) {
    const browser = pages.browser('console');
    const sent = new URL(await away(browser));
    of.sent?.(sent);
    const address = await there.visit(sent.href, 'sub-anna');
    change(address);
    const answer = await back(browser, address);
    await isNobody(browser);
    return answer.status;
  }

  it.each<[string, (address: URL) => void, number]>([
    ['with a forged state', ({ searchParams }) => searchParams.set('state', 'A'.repeat(43)), 400],
    ['without a state', ({ searchParams }) => searchParams.delete('state'), 400],
    ['with a forged code', ({ searchParams }) => searchParams.set('code', 'A'.repeat(43)), 403],
    ['without a code', ({ searchParams }) => searchParams.delete('code'), 403],
    ['from another issuer', ({ searchParams }) => searchParams.set('iss', 'https://other.example'), 403],
    ['from an issuer that does not name itself', ({ searchParams }) => searchParams.delete('iss'), 403],
  ])('%s', async (_, change, status) => {
    expect(await comeBack(change)).toBe(status);
  });

  it('with a token of another nonce', async () => {
    const sent = ({ searchParams }: URL) => searchParams.set('nonce', 'another-nonce-of-somebody-else');
    expect(await comeBack(() => undefined, { sent })).toBe(403);
  });

  it('with a code that another browser was given', async () => {
    const stranger = pages.browser('console');
    const stolen = await there.visit(await away(stranger), 'sub-anna');
    const inject = ({ searchParams }: URL) => searchParams.set('code', stolen.searchParams.get('code') ?? '');
    expect(await comeBack(inject)).toBe(403);
  });

  it('twice', async () => {
    const browser = pages.browser('console');
    const address = await there.visit(await away(browser), 'sub-anna');
    const kept = new Map(browser.cookies);
    expect((await back(browser, address)).status).toBe(303);
    const replay = pages.browser('console');
    for (const [name, value] of kept) replay.cookies.set(name, value);
    expect((await back(replay, address)).status).toBe(400);
    await isNobody(replay);
  });

  it('in another browser, which signs nobody in as who began it', async () => {
    const [mine, victim] = [pages.browser('console'), pages.browser('console')];
    const address = await there.visit(await away(mine), 'sub-anna');
    await away(victim);
    expect((await back(victim, address)).status).toBe(400);
    await isNobody(victim);
    expect((await back(mine, address)).status).toBe(303);
  });

  it('too late', async () => {
    const browser = pages.browser('console');
    const address = await there.visit(await away(browser), 'sub-anna');
    await pages.owner.query('update sverka.sign_in_attempt set expires_at = clock_timestamp()');
    expect((await back(browser, address)).status).toBe(400);
    await isNobody(browser);
  });

  it('at the other pages', async () => {
    const [console, cabinet] = [pages.browser('console'), pages.browser('cabinet')];
    const address = await there.visit(await away(console), 'sub-anna');
    const planted = console.cookies.get('__Host-sverka_console_sign_in') ?? '';
    cabinet.cookies.set('__Host-sverka_cabinet_sign_in', planted);
    expect((await back(cabinet, new URL(`${ORIGINS.cabinet}/cabinet/sign-in/callback${address.search}`))).status).toBe(
      400,
    );
  });

  it('when the person gave up', async () => {
    const browser = pages.browser('console');
    const address = await there.visit(await away(browser), { abort: true });
    expect(address.searchParams.get('error')).toBe('access_denied');
    expect((await back(browser, address)).status).toBe(403);
    await isNobody(browser);
  });
});

it('a public client, which has no secret, signs in by PKCE alone', async () => {
  const settings = { SVERKA_OIDC_CLIENT_ID: 'sverka-public', SVERKA_OIDC_CLIENT_SECRET: '' };
  const own = await openTestPages({ identityProvider: providerOf(there, settings) });
  try {
    const id = await makePerson(own.owner, 'anna', ['admin']);
    await own.owner.query('select sverka.link_identity($1, $2, $3, $4)', [id, there.issuer, 'sub-anna', 'setup']);
    const browser = own.browser('console');
    expect((await back(browser, await there.visit(await away(browser), 'sub-anna'))).status).toBe(303);
    expect((await browser.get('/operator')).text).toContain('anna');
  } finally {
    await own.close();
  }
});

it('without an answer of the provider the pages are not ready, and say so', async () => {
  const gone = await startIdentityProvider([`${ORIGINS.console}/operator/sign-in/callback`]);
  const identityProvider = providerOf(gone);
  const check = signInCheck({ localLinks: false, identityProvider });
  expect(await check.check()).toBeNull();
  await gone.stop();
  const fresh = providerOf(gone);
  await expect(signInCheck({ localLinks: false, identityProvider: fresh }).check()).rejects.toThrow();
  const own = await openTestPages({ identityProvider: fresh });
  try {
    const answer = await own.browser('console').get('/operator/sign-in/start', OWN);
    expect([answer.status, answer.text.includes('does not answer')]).toEqual([503, true]);
  } finally {
    await own.close();
  }
  expect(await signInCheck({ localLinks: true, identityProvider: null }).check()).toBeNull();
  expect(await signInCheck({ localLinks: false, identityProvider: null }).check()).toBe('missing');
});
