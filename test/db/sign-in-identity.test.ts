import { signInCheck } from '../../src/http/checks.js';
import { makePerson } from '../support/decisions.js';
import { startIdentityProvider } from '../support/identity-provider.js';
import { ORIGINS, openTestPages } from '../support/pages.js';
import {
  comeBack,
  expectNobody,
  makeLinked,
  openSignInWorld,
  providerOf,
  type SignInWorld,
  sendAway,
} from '../support/sign-in-world.js';

let world: SignInWorld;
beforeAll(async () => {
  world = await openSignInWorld();
});
afterAll(() => world?.close());

it('with an identity provider there is one button, and links open nothing', async () => {
  const browser = world.pages.browser('console');
  const shown = await browser.get('/operator/sign-in?next=/operator/alerts');
  expect(shown.text).toContain('href="/operator/sign-in/start?next=%2Foperator%2Falerts"');
  expect(shown.text).not.toContain('name="link"');
  expect((await browser.signIn('anna')).status).toBe(404);
  const user = await world.userOf('anna');
  await world.admin.get(`/operator/users/${user.id}`);
  expect((await world.admin.post(`/operator/users/${user.id}/link`)).status).toBe(404);
});

it('the browser is sent away with a fresh state, nonce and challenge, and with no secret', async () => {
  const browser = world.pages.browser('console');
  const first = new URL(await sendAway(browser, '/operator/alerts'));
  const second = new URL(await sendAway(world.pages.browser('console')));
  const { searchParams: said } = first;
  expect(first.origin).toBe(world.there.issuer);
  expect([said.get('response_type'), said.get('code_challenge_method')]).toEqual(['code', 'S256']);
  expect(said.get('redirect_uri')).toBe(`${ORIGINS.console}/operator/sign-in/callback`);
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(said.get(name)).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(second.searchParams.get(name)).not.toBe(said.get(name));
  }
  expect(first.href).not.toContain('alerts');
  const { rows } = await world.pages.owner.query<{ verifier: string }>('select verifier from sverka.sign_in_attempt');
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(rows.filter(({ verifier }) => first.href.includes(verifier))).toEqual([]);
});

it('another site starts no sign-in', async () => {
  const browser = world.pages.browser('console');
  for (const site of ['cross-site', 'same-site', 'none']) {
    const sent = await browser.get('/operator/sign-in/start', { 'sec-fetch-site': site });
    expect([site, sent.headers.get('location')]).toEqual([site, '/operator/sign-in']);
  }
  expect(browser.cookies.size).toBe(0);
});

it('a linked person comes back to the page that was wanted, with a cookie of that host alone', async () => {
  const browser = world.pages.browser('console');
  const entered = await comeBack(
    browser,
    await world.there.visit(await sendAway(browser, '/operator/alerts'), 'sub-anna'),
  );
  expect(entered.headers.get('location')).toBe('/operator/alerts');
  expect(entered.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-sverka_console=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(/^__Host-sverka_console_sign_in=; .*Max-Age=0$/),
  ]);
  expect((await browser.get('/operator')).text).toContain('anna');
});

it('a sign-in leads to a page of ours and nowhere else', async () => {
  for (const next of ['//evil.example', 'https://evil.example/operator', '/operator/../x', '/operator/sign-out']) {
    const browser = world.pages.browser('console');
    const entered = await comeBack(browser, await world.there.visit(await sendAway(browser, next), 'sub-anna'));
    expect([next, entered.headers.get('location')]).toEqual([next, '/operator']);
  }
});

it('signing out ends the session itself', async () => {
  const browser = await world.signedIn('console', 'sub-anna');
  const token = browser.cookies.get('__Host-sverka_console') ?? '';
  await browser.get('/operator');
  expect((await browser.post('/operator/sign-out')).status).toBe(303);
  browser.cookies.set('__Host-sverka_console', token);
  await expectNobody(browser);
});

it('an identity that nobody linked is refused, and told what to give to an admin', async () => {
  const browser = world.pages.browser('console');
  const answer = await comeBack(browser, await world.there.visit(await sendAway(browser), 'sub-stranger'));
  expect(answer.status).toBe(403);
  expect(answer.text).toContain('sub-stranger');
  expect(answer.text).toContain(world.there.issuer);
  await expectNobody(browser);
  await makePerson(world.pages.owner, 'stranger', ['operator']);
  expect((await world.link((await world.userOf('stranger')).id, 'sub-stranger')).status).toBe(303);
  expect((await (await world.signedIn('console', 'sub-stranger')).get('/operator')).text).toContain('stranger');
});

it('what is unlinked signs in no more, and is signed out', async () => {
  const id = await makePerson(world.pages.owner, 'leaver', ['operator']);
  await world.link(id, 'sub-leaver');
  const browser = await world.signedIn('console', 'sub-leaver');
  await world.admin.get(`/operator/users/${id}`);
  const form = { issuer: world.there.issuer, subject: 'sub-leaver' };
  expect((await world.admin.post(`/operator/users/${id}/identities/unlink`, form)).status).toBe(303);
  await expectNobody(browser);
  expect((await comeBack(browser, await world.there.visit(await sendAway(browser), 'sub-leaver'))).status).toBe(403);
});

it('a disabled person does not come in', async () => {
  const id = await makePerson(world.pages.owner, 'disabled', ['operator']);
  await world.link(id, 'sub-disabled');
  await world.pages.owner.query('update sverka."user" set disabled_at = now() where id = $1', [id]);
  const browser = world.pages.browser('console');
  expect((await comeBack(browser, await world.there.visit(await sendAway(browser), 'sub-disabled'))).status).toBe(403);
});

it('nobody but an admin links, and a subject that is another person there is refused', async () => {
  const id = await makePerson(world.pages.owner, 'olga', ['operator', 'approver']);
  await world.link(id, 'sub-olga');
  const olga = await world.signedIn('console', 'sub-olga');
  await olga.get('/operator');
  expect((await olga.post(`/operator/users/${id}/identities`, { subject: 'sub-x' })).status).toBe(403);
  const other = await makePerson(world.pages.owner, 'oleg', ['operator']);
  const taken = await world.link(other, 'sub-olga');
  expect([taken.status, taken.text.includes('signs in as another person')]).toEqual([422, true]);
  expect((await world.link(other, ' ')).status).toBe(422);
});

describe('two logins of one identity are one person', () => {
  it('also in console and cabinet, whichever is linked first', async () => {
    await world.pages.makeRequester('rita', 'Nordwind');
    await makePerson(world.pages.owner, 'rita-of-ours', ['approver']);
    const [rita, ours] = [await world.userOf('rita'), await world.userOf('rita-of-ours')];
    expect(rita.person).not.toBe(ours.person);
    await world.link(rita.id, 'sub-rita');
    await world.link(ours.id, 'sub-rita');
    expect((await world.userOf('rita')).person).toBe((await world.userOf('rita-of-ours')).person);
    expect((await (await world.signedIn('cabinet', 'sub-rita')).get('/cabinet')).text).toContain('Nordwind');
    expect((await (await world.signedIn('console', 'sub-rita')).get('/operator')).text).toContain('rita-of-ours');
  });

  it('and stay it, also where the first was unlinked before', async () => {
    await makePerson(world.pages.owner, 'first', ['operator']);
    await makePerson(world.pages.owner, 'second', ['approver']);
    const [first, second] = [await world.userOf('first'), await world.userOf('second')];
    await world.link(first.id, 'sub-twice');
    const form = { issuer: world.there.issuer, subject: 'sub-twice' };
    await world.admin.post(`/operator/users/${first.id}/identities/unlink`, form);
    await world.link(second.id, 'sub-twice');
    expect((await world.userOf('second')).person).toBe((await world.userOf('first')).person);
  });

  it('also when both are linked at the same time', async () => {
    await world.pages.makeRequester('both-cabinet');
    await makePerson(world.pages.owner, 'both-console', ['approver']);
    const ids = [(await world.userOf('both-cabinet')).id, (await world.userOf('both-console')).id];
    await Promise.all(
      ids.map((id) =>
        world.pages.owner.query('select sverka.link_identity($1, $2, $3, $4), pg_sleep(0.2)', [
          id,
          world.there.issuer,
          'sub-both',
          'test',
        ]),
      ),
    );
    expect((await world.userOf('both-cabinet')).person).toBe((await world.userOf('both-console')).person);
  });
});

it('a public client, which has no secret, signs in by PKCE alone', async () => {
  const settings = { SVERKA_OIDC_CLIENT_ID: 'sverka-public', SVERKA_OIDC_CLIENT_SECRET: '' };
  const own = await openTestPages({ identityProvider: providerOf(world.there, settings) });
  try {
    await makeLinked(own, { there: world.there, login: 'anna', roles: ['admin'], subject: 'sub-anna' });
    const browser = own.browser('console');
    expect((await comeBack(browser, await world.there.visit(await sendAway(browser), 'sub-anna'))).status).toBe(303);
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
  await expect(signInCheck({ localLinks: false, identityProvider: fresh }).check()).rejects.toThrow(
    'does not say what it is',
  );
  const own = await openTestPages({ identityProvider: fresh });
  try {
    const answer = await own.browser('console').get('/operator/sign-in/start', { 'sec-fetch-site': 'same-origin' });
    expect([answer.status, answer.text.includes('does not answer')]).toEqual([503, true]);
  } finally {
    await own.close();
  }
  expect(await signInCheck({ localLinks: true, identityProvider: null }).check()).toBeNull();
  expect(await signInCheck({ localLinks: false, identityProvider: null }).check()).toBe('missing');
});
