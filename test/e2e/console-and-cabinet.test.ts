import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { noBrowser, openBrowser, type TestChromium } from '../support/browser.js';
import { eventually, type ProductFolder, productFolder, type RunningProduct } from '../support/running-product.js';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

const WITHIN_MS = 300_000;
const missing = noBrowser();
const inBrowser = missing === null ? describe : describe.skip;
if (missing !== null) process.stdout.write(`Console and cabinet are not looked at: ${missing}.\n`);

let folder: ProductFolder;
let product: RunningProduct;
let browser: TestChromium;
/** The state of a browser in which that login has signed in. */
const signedIn = new Map<string, NonNullable<BrowserContextOptions['storageState']>>();

beforeAll(async () => {
  if (missing !== null) return;
  folder = productFolder();
  product = await folder.start();
  browser = await openBrowser();
  await pay('25');
  await pay('0.1234567');
  for (const login of ['operator', 'approver', 'admin', 'requester']) signedIn.set(login, await signIn(login));
}, WITHIN_MS);
afterAll(async () => {
  await browser?.close();
  await product?.stop();
  folder?.remove();
}, WITHIN_MS);

const linkOf = (login: string) => {
  const { linkFile } = product.run().logins.find(({ user }) => user === login) ?? { linkFile: '' };
  return readFileSync(resolve(REPOSITORY_ROOT, linkFile), 'utf8').trim();
};

/** By the link of the run, in a browser without JavaScript. */
async function signIn(login: string) {
  const { page, complaints } = await browser.openAs(linkOf(login), { javaScriptEnabled: false });
  await page.click('main button[type=submit]');
  expect(new URL(page.url()).pathname).toMatch(/^\/(operator|cabinet)$/);
  expect(complaints).toEqual([]);
  return page.context().storageState();
}

async function open(login: string, path: string, reader: BrowserContextOptions = {}) {
  const run = product.run();
  const { origin } = new URL(path.startsWith('/operator') ? run.consoleUrl : run.cabinetUrl);
  const storageState = signedIn.get(login);
  return browser.openAs(`${origin}${path}`, { ...reader, ...(storageState ? { storageState } : {}) });
}

/** A deposit to the first live merchant's own address; one finer than the token is parked. */
async function pay(amount: string): Promise<void> {
  const run = product.run();
  const merchant = run.merchants.find(({ book }) => book === 'live');
  const made = await fetch(`${run.gatewayUrl}/v1/deposit-addresses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${merchant?.apiKey}`,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ network: 'tron' }),
  });
  const { address } = (await made.json()) as { address: string };
  await fetch(`${run.simulators['custody']?.url}/_sim/deposits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address, amount }),
  });
}

const MAIN_PAGES = [
  ['operator', '/operator', 'h1'],
  ['operator', '/operator/deposits', 'table'],
  ['requester', '/cabinet', '.wallets'],
  ['requester', '/cabinet/statement', 'table'],
] as const;
const OTHER_PAGES = [
  ['operator', '/operator/decisions'],
  ['operator', '/operator/issuances'],
  ['operator', '/operator/withdrawals'],
  ['operator', '/operator/deadletters?state=open'],
  ['operator', '/operator/alerts?state=open'],
  ['operator', '/operator/search?q=nothing'],
  ['operator', '/operator/settings'],
  ['operator', '/operator/none'],
  ['admin', '/operator/merchants'],
  ['admin', '/operator/users'],
  ['nobody', '/operator/sign-in'],
  ['requester', '/cabinet/addresses'],
  ['requester', '/cabinet/deposits'],
  ['requester', '/cabinet/cards'],
  ['requester', '/cabinet/withdrawals'],
  ['requester', '/cabinet/withdrawals/new'],
  ['requester', '/cabinet/destinations'],
] as const;

async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
  expect([page.url(), found]).toEqual([page.url(), []]);
}

inBrowser('the pages in a real browser', () => {
  it(
    'show money and what waits, and axe finds nothing, in both languages and themes',
    async () => {
      await eventually('both deposits are there', async () => {
        const { page } = await open('operator', '/operator/deposits');
        const text = await page.locator('main').innerText();
        await page.context().close();
        return text.includes('Final') && text.includes('Parked');
      });
      for (const locale of ['en', 'ru'] as const) {
        for (const [login, path, wanted] of MAIN_PAGES) {
          const { page, complaints } = await open(login, path, { locale });
          expect([path, await page.locator(wanted).count()]).not.toEqual([path, 0]);
          expect(await page.locator('html').getAttribute('lang')).toBe(locale);
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            await expectAccessible(page);
          }
          expect(complaints).toEqual([]);
          await page.context().close();
        }
      }
    },
    WITHIN_MS,
  );

  it(
    'are clean on every other page, and fit a narrow screen',
    async () => {
      for (const [login, path] of OTHER_PAGES) {
        const { page } = await open(login, path, { viewport: { width: 390, height: 800 } });
        await expectAccessible(page);
        const wide = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
        expect([path, wide]).toEqual([path, 0]);
        await page.context().close();
      }
    },
    WITHIN_MS,
  );
});

inBrowser('people in a real browser', () => {
  it(
    'an operator decides without JavaScript: the parked deposit is rejected, and the page says so',
    async () => {
      const { page } = await open('operator', '/operator/decisions', { javaScriptEnabled: false });
      await page.click('a[href^="/operator/deposits/dep_"]');
      expect(await page.locator('main').innerText()).toContain('amount_too_precise');
      await page.check('#choice-reject');
      await page.fill('#reason', 'the merchant takes it back');
      await page.click('text=Record decision');
      await eventually('the decision is applied', async () => {
        await page.reload();
        return (await page.locator('main').innerText()).includes('Your decision was applied.');
      });
      expect(await page.locator('.state--pill').first().innerText()).toBe('Rejected');
      await page.context().close();
    },
    WITHIN_MS,
  );

  it(
    'a requester sees his address with its code, and pages turn with his language and theme',
    async () => {
      const { page, complaints } = await open('requester', '/cabinet/addresses');
      await page.click('tbody a');
      await expectAccessible(page);
      expect(await page.evaluate("document.querySelector('img.qr').naturalWidth > 0")).toBe(true);
      await page.click('footer a');
      await page.selectOption('#lang', 'ru');
      await page.selectOption('#theme', 'dark');
      await page.selectOption('#zone', 'Europe/Berlin');
      await page.click('main button[type=submit]');
      expect(await page.locator('h1').innerText()).toBe('Настройки');
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
      expect(await page.locator('.foot').innerText()).toContain('Europe/Berlin');
      expect(complaints).toEqual([]);
      await page.context().close();
    },
    WITHIN_MS,
  );

  it(
    'who signs out is signed out',
    async () => {
      const { page } = await open('admin', '/operator');
      await page.click('summary[aria-label]');
      await page.click('text=Sign out');
      expect(page.url()).toContain('/operator/sign-in');
      await page.goto(product.run().consoleUrl);
      expect(page.url()).toContain('/operator/sign-in');
      await page.context().close();
    },
    WITHIN_MS,
  );
});

inBrowser('money in a real browser', () => {
  it(
    'leaves without JavaScript: asked for, approved by another, paid by hand, completed with a file',
    async () => {
      const id = await requestInBrowser('5');
      const byHand = (page: Page) => page.selectOption('#route', 'manual');
      await decideInBrowser('approver', { id, choice: 'approve', fill: byHand });
      await shownAs('Approved', id);
      await decideInBrowser('operator', { id, choice: 'pay' });
      await shownAs('Submitted', id);
      const file = { name: 'payout.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') };
      const proof = (page: Page) => page.setInputFiles('#file', file);
      await decideInBrowser('operator', { id, choice: 'complete', fill: proof });
      await shownAs('Completed', id);
      const { page } = await open('operator', `/operator/withdrawals/${id}`);
      expect(await page.locator('main').innerText()).toContain('payout.pdf');
      await expectAccessible(page);
      await page.context().close();
    },
    WITHIN_MS,
  );
});

/** Adds a destination, waits until it may be paid to, and asks for that many USDT; answers the id. */
async function requestInBrowser(amount: string): Promise<string> {
  const { page } = await open('requester', '/cabinet/destinations', { javaScriptEnabled: false });
  await page.fill('#label', 'Treasury');
  await page.selectOption('#network', 'tron');
  await page.fill('#address', 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE');
  await page.click('main form:has(#address) button[type=submit]');
  const { origin } = new URL(page.url());
  await eventually('the destination may be paid to', async () => {
    await page.goto(`${origin}/cabinet/withdrawals/new`);
    return (await page.locator('input[name=target]:enabled').count()) > 0;
  });
  await page.check('input[name=target]:enabled');
  await page.fill('#amount', amount);
  await page.click('main button[type=submit]');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect(id).toMatch(/^wd_/);
  await page.context().close();
  return id;
}

/** Opens the page of that withdrawal and records that choice; `fill` enters what belongs to it. */
async function decideInBrowser(
  login: string,
  { id, choice, fill = async () => undefined }: { id: string; choice: string; fill?: (page: Page) => Promise<unknown> },
): Promise<void> {
  const { page } = await open(login, `/operator/withdrawals/${id}`, { javaScriptEnabled: false });
  await page.check(`#choice-${choice}`);
  await fill(page);
  await page.fill('#reason', 'asked the merchant by telephone');
  await page.click('text=Record decision');
  await page.context().close();
}

async function shownAs(word: string, id: string): Promise<void> {
  const { page } = await open('requester', `/cabinet/withdrawals/${id}`, { javaScriptEnabled: false });
  await eventually(`the withdrawal is ${word}`, async () => {
    await page.reload();
    return (await page.locator('.state--pill').first().innerText()) === word;
  });
  await page.context().close();
}
