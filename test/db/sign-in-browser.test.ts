import type { Listener } from '../../src/http/listen.js';
import { freePort } from '../../src/local/ports.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.js';
import { openTestPages, type TestPages } from '../support/pages.js';
import { makeLinked, providerOf } from '../support/sign-in-world.js';

const missing = noBrowser();
const inBrowser = missing === null ? describe : describe.skip;
if (missing !== null) process.stdout.write(`The sign-in is not tried in a browser: ${missing}.\n`);

let there: TestIdentityProvider;
let pages: TestPages;
let listener: Listener;
let chromium: Awaited<ReturnType<typeof openBrowser>>;
let site: string;

beforeAll(async () => {
  if (missing !== null) return;
  const origin = `http://localhost:${await freePort()}`;
  site = `${origin}/operator`;
  there = await startIdentityProvider([`${site}/sign-in/callback`]);
  const identityProvider = providerOf(there);
  pages = await openTestPages({ identityProvider, origins: { console: origin, cabinet: 'http://localhost:8084' } });
  await makeLinked(pages, { there, login: 'olga', roles: ['operator'], subject: 'sub-olga' });
  listener = await pages.serve('console');
  chromium = await openBrowser();
});
afterAll(async () => {
  await chromium?.close();
  await listener?.close(0);
  await pages?.close();
  await there?.stop();
});

inBrowser('in a real browser', () => {
  it('the button leads to the provider and back to the page that was wanted, and signing out ends it', async () => {
    const { page, complaints } = await chromium.open(`${site}/alerts`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.waitForURL(`${there.issuer}/**`);
    await page.locator('input[name=login]').fill('sub-olga');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${site}/alerts`);
    const cookies = (await page.context().cookies(site)).map(({ name, secure, httpOnly, sameSite }) => [
      ...[name, secure, httpOnly, sameSite],
    ]);
    expect(cookies).toContainEqual(['__Host-sverka_console', true, true, 'Lax']);
    expect(cookies.flat()).not.toContain('__Host-sverka_console_sign_in');
    await page.locator('details.drop summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${site}/sign-in`);
    const { rows } = await pages.owner.query('select from sverka.session where revoked_at is null');
    expect(rows).toHaveLength(0);
    expect(complaints).toEqual([]);
  });

  it('whom nobody has linked reads what to give to an admin', async () => {
    const { page } = await chromium.open(`${site}/sign-in`);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.locator('input[name=login]').fill('sub-nobody');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Nobody here has this identity' }).waitFor();
    expect(await page.locator('main').innerText()).toMatch(/Subject\s+sub-nobody/);
  });

  it('a link of another site starts no sign-in', async () => {
    const { page } = await chromium.open('about:blank');
    await page.setContent(`<a href="${site}/sign-in/start">Free gifts</a>`);
    await page.getByRole('link').click();
    await page.waitForURL(`${site}/sign-in`);
    expect(await page.context().cookies(site)).toEqual([]);
  });
});
