import { loadConfig } from '../../src/config.js';
import type { Audience } from '../../src/http/pages/call.js';
import { createIdentityProvider, type IdentityProvider } from '../../src/http/pages/identity-provider.js';
import { makePerson } from './decisions.js';
import { startIdentityProvider, type TestIdentityProvider } from './identity-provider.js';
import { ORIGINS, openTestPages, type TestBrowser, type TestPage, type TestPages } from './pages.js';

export const HOMES: Readonly<Record<Audience, string>> = { console: '/operator', cabinet: '/cabinet' };

/** Pages whose people a real identity provider signs in; `admin` is one who links the others. */
export interface SignInWorld {
  readonly there: TestIdentityProvider;
  readonly pages: TestPages;
  readonly admin: TestBrowser;
  /** Signs a fresh browser in as that subject. */
  signedIn(audience: Audience, subject: string): Promise<TestBrowser>;
  /** Links as an admin does, in the console. */
  link(userId: string, subject: string): Promise<TestPage>;
  userOf(login: string): Promise<{ readonly id: string; readonly person: string }>;
  close(): Promise<void>;
}

export async function openSignInWorld(): Promise<SignInWorld> {
  const there = await startIdentityProvider([
    `${ORIGINS.console}/operator/sign-in/callback`,
    `${ORIGINS.cabinet}/cabinet/sign-in/callback`,
  ]);
  const pages = await openTestPages({ identityProvider: providerOf(there) });
  const signedIn = (audience: Audience, subject: string) =>
    signIn({ there, browser: pages.browser(audience), subject });
  await makeLinked(pages, { there, login: 'anna', roles: ['admin'], subject: 'sub-anna' });
  const admin = await signedIn('console', 'sub-anna');
  return {
    ...{ there, pages, admin, signedIn },
    async link(userId, subject) {
      await admin.get(`/operator/users/${userId}`);
      return admin.post(`/operator/users/${userId}/identities`, { subject });
    },
    async userOf(login) {
      const { rows } = await pages.owner.query<{ id: string; person: string }>(
        'select id, person from sverka."user" where login = $1',
        [login],
      );
      return rows[0] ?? { id: '', person: '' };
    },
    async close() {
      await pages.close();
      await there.stop();
    },
  };
}

/** As the first admin is made: in the database. */
export async function makeLinked(
  { owner }: TestPages,
  of: { there: TestIdentityProvider; login: string; roles: readonly string[]; subject: string },
): Promise<void> {
  const id = await makePerson(owner, of.login, of.roles);
  await owner.query('select sverka.link_identity($1, $2, $3, $4)', [id, of.there.issuer, of.subject, 'setup']);
}

/** The provider as the settings of that client name it, or others. */
export function providerOf(of: TestIdentityProvider, settings: Record<string, string> = {}): IdentityProvider {
  const provider = createIdentityProvider(
    loadConfig({
      DATABASE_URL: 'postgres://one/two',
      SVERKA_OIDC_ISSUER: of.issuer,
      SVERKA_OIDC_CLIENT_ID: of.clientId,
      SVERKA_OIDC_CLIENT_SECRET: of.clientSecret,
      ...settings,
    }),
  );
  if (provider === null) throw new Error('The settings name a provider.');
  return provider;
}

/** The browser is sent away; answers where to. */
export async function sendAway(browser: TestBrowser, next = ''): Promise<string> {
  const query = next === '' ? '' : `?${new URLSearchParams({ next }).toString()}`;
  const sent = await browser.get(`${HOMES[browser.audience]}/sign-in/start${query}`, {
    'sec-fetch-site': 'same-origin',
  });
  expect(sent.status).toBe(303);
  return sent.headers.get('location') ?? '';
}

/** The browser comes back to where the provider sends it. */
export const comeBack = (browser: TestBrowser, address: URL) => browser.get(`${address.pathname}${address.search}`);

async function signIn(of: {
  there: TestIdentityProvider;
  browser: TestBrowser;
  subject: string;
}): Promise<TestBrowser> {
  const { there, browser, subject } = of;
  const entered = await comeBack(browser, await there.visit(await sendAway(browser), subject));
  expect([entered.status, entered.headers.get('location')]).toEqual([303, HOMES[browser.audience]]);
  return browser;
}

export async function expectNobody(browser: TestBrowser): Promise<void> {
  const home = await browser.get(HOMES[browser.audience]);
  expect([home.status, home.headers.get('location')]).toEqual([303, `${HOMES[browser.audience]}/sign-in`]);
}
