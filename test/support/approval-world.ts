import type { Page } from 'playwright-core';
import { createLoginLink } from '../../src/db/login-links.js';
import { freePort } from '../../src/local/ports.js';
import { openBrowser } from './browser.js';
import { openTestPages, type TestBrowser, type TestPage } from './pages.js';
import { type PasskeyOptions, plugInPasskey, type VirtualPasskey } from './passkeys.js';
import { openWithdrawing, type Withdrawing } from './withdrawal-rows.js';

const COOKIE = '__Host-sverka_console';

/** One session twice: in a real browser with a passkey, and without a screen. */
export interface Approver {
  readonly userId: string;
  readonly page: Page;
  readonly passkey: VirtualPasskey;
  readonly bare: TestBrowser;
  readonly complaints: string[];
  addPasskey(): Promise<void>;
  /** What the console asks a passkey of this session to sign for that withdrawal, as its page shows it now. */
  ask(id: string): Promise<PasskeyOptions>;
  /** What the passkey signs for it, asked so or otherwise; not sent yet. */
  signFor(id: string, of?: Partial<PasskeyOptions>): Promise<string>;
}

/** The console where approving needs a passkey, with withdrawals to approve. */
export interface ApprovalWorld {
  readonly money: Withdrawing;
  readonly site: string;
  open(userId: string): Promise<Approver>;
  signedIn(userId: string): Promise<TestBrowser>;
  decisionsOn(id: string): Promise<number>;
  close(): Promise<void>;
}

export async function openApprovalWorld(): Promise<ApprovalWorld> {
  const origins = { console: `http://localhost:${await freePort()}`, cabinet: 'http://localhost:8084' };
  const site = `${origins.console}/operator`;
  const pages = await openTestPages({ approvalPasskey: true, origins });
  const money = await openWithdrawing(pages.database, { wallet: 1_000_000_000_000n });
  const listener = await pages.serve('console');
  const chromium = await openBrowser();
  const loginOf = async (userId: string) => {
    const found = await money.owner.query<{ login: string }>('select login from sverka."user" where id = $1', [userId]);
    return found.rows[0]?.login ?? '';
  };
  return {
    ...{ money, site },
    async open(userId) {
      const link = await createLoginLink(pages.tx, await loginOf(userId));
      const { page, complaints } = await chromium.open(`${site}/sign-in?link=${link}`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(site);
      const kept = (await page.context().cookies()).find(({ name }) => name === COOKIE);
      const bare = pages.browser('console');
      bare.cookies.set(COOKIE, kept?.value ?? '');
      return { userId, page, bare, complaints, ...(await withPasskey({ page, bare, site })) };
    },
    async signedIn(userId) {
      const browser = pages.browser('console');
      expect((await browser.signIn(await loginOf(userId))).status).toBe(303);
      return browser;
    },
    async decisionsOn(id) {
      return (await money.owner.query('select from sverka.decision where subject_id = $1', [id])).rows.length;
    },
    async close() {
      await chromium.close();
      await listener.close(0);
      await money.close();
      await pages.close();
    },
  };
}

async function withPasskey({ page, bare, site }: { page: Page; bare: TestBrowser; site: string }) {
  const passkey = await plugInPasskey(page);
  const ask = async (id: string) => {
    const { csrf, seen } = await shownIn(bare, id);
    return JSON.parse((await bare.post('/operator/passkeys/challenge', { csrf, seen })).text) as PasskeyOptions;
  };
  return {
    passkey,
    async addPasskey() {
      await page.goto(`${site}/passkeys`);
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.locator('table tbody tr').first().waitFor();
    },
    ask,
    async signFor(id: string, of: Partial<PasskeyOptions> = {}) {
      await page.goto(`${site}/withdrawals/${id}`);
      return passkey.sign({ ...(await ask(id)), ...of });
    },
  };
}

/** What the page of a withdrawal shows to a browser, to be sent back. */
export async function shownIn(browser: TestBrowser, id: string) {
  const { text } = await browser.get(`/operator/withdrawals/${id}`);
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
  return { stage: field('stage'), seen: field('seen'), csrf: field('csrf') };
}

/** Sends the form of a withdrawal's page with what a passkey signed. */
export async function approveIn(browser: TestBrowser, id: string, answer: string): Promise<TestPage> {
  return browser.post(`/operator/withdrawals/${id}/decisions`, {
    ...(await shownIn(browser, id)),
    ...{ choice: 'approve', route: 'custody', reason: 'asked the merchant', step_up: answer },
  });
}
