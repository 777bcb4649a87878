import type { Page } from 'playwright-core';
import { createLoginLink } from '../../src/db/login-links.js';
import type { Listener } from '../../src/http/listen.js';
import { freePort } from '../../src/local/ports.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { openTestPages, type TestBrowser, type TestPages } from '../support/pages.js';
import { plugInPasskey, type VirtualPasskey } from '../support/passkeys.js';
import { openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';

const missing = noBrowser();
const inBrowser = missing === null ? describe : describe.skip;
if (missing !== null) process.stdout.write(`Passkeys are not tried: ${missing}.\n`);

const COOKIE = '__Host-sverka_console';
let pages: TestPages;
let money: Withdrawing;
let listener: Listener;
let chromium: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  if (missing !== null) return;
  const origins = { console: `http://localhost:${await freePort()}`, cabinet: 'http://localhost:8084' };
  pages = await openTestPages({ approvalPasskey: true, origins });
  money = await openWithdrawing(pages.database, { wallet: 1_000_000_000_000n });
  listener = await pages.serve('console');
  chromium = await openBrowser();
});
afterAll(async () => {
  await chromium?.close();
  await listener?.close(0);
  await money?.close();
  await pages?.close();
});

interface Approver {
  readonly userId: string;
  /** The same session twice: with a screen and a passkey, and without. */
  readonly page: Page;
  readonly passkey: VirtualPasskey;
  readonly bare: TestBrowser;
  readonly complaints: string[];
}

async function open(userId: string): Promise<Approver> {
  const site = `http://localhost:${listener.port}/operator`;
  const link = await createLoginLink(pages.tx, await loginOf(userId));
  const { page, complaints } = await chromium.open(`${site}/sign-in?link=${link}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(site);
  const passkey = await plugInPasskey(page);
  await page.goto(`${site}/passkeys`);
  const bare = pages.browser('console');
  const kept = (await page.context().cookies()).find(({ name }) => name === COOKIE);
  bare.cookies.set(COOKIE, kept?.value ?? '');
  return { userId, page, passkey, bare, complaints };
}

async function loginOf(userId: string): Promise<string> {
  const { rows } = await money.owner.query<{ login: string }>('select login from sverka."user" where id = $1', [
    userId,
  ]);
  return rows[0]?.login ?? '';
}

async function signedIn(userId: string): Promise<TestBrowser> {
  const { rows } = await money.owner.query<{ login: string }>('select login from sverka."user" where id = $1', [
    userId,
  ]);
  const browser = pages.browser('console');
  expect((await browser.signIn(rows[0]?.login ?? '')).status).toBe(303);
  return browser;
}

async function addPasskey({ page }: Approver): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.locator('table tbody tr').first().waitFor();
}

/** What the page of a withdrawal shows to a browser, to be sent back. */
async function shown(browser: TestBrowser, id: string) {
  const { text } = await browser.get(`/operator/withdrawals/${id}`);
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
  return { stage: field('stage'), seen: field('seen'), csrf: field('csrf') };
}

const approve = async (browser: TestBrowser, id: string, step_up: string) =>
  browser.post(`/operator/withdrawals/${id}/decisions`, {
    ...(await shown(browser, id)),
    ...{ choice: 'approve', route: 'custody', reason: 'asked the merchant', step_up },
  });

async function decisionsOn(id: string): Promise<number> {
  const { rows } = await money.owner.query('select from sverka.decision where subject_id = $1', [id]);
  return rows.length;
}

inBrowser('approving a withdrawal', () => {
  let approver: Approver;
  beforeAll(async () => {
    approver = await open(money.approver);
  });

  it('is refused to who has no passkey yet, who is shown where to add one', async () => {
    const id = await money.request();
    const { text } = await approver.bare.get(`/operator/withdrawals/${id}`);
    expect(text).toContain('Approving needs a passkey, and you have none yet');
    expect((await approve(approver.bare, id, '')).status).toBe(422);
    expect(await decisionsOn(id)).toBe(0);
  });

  it('takes the passkey that was added on the own page, and the browser complains of nothing', async () => {
    await addPasskey(approver);
    const id = await money.request();
    const { page, complaints } = approver;
    await page.goto(`http://localhost:${listener.port}/operator/withdrawals/${id}`);
    await page.getByRole('radio', { name: 'Approve' }).check();
    await page.locator('#reason').fill('asked the merchant');
    await page.getByRole('button', { name: 'Record decision' }).click();
    await page.waitForURL(/\?decision=dec_/);
    expect(await decisionsOn(id)).toBe(1);
    expect(complaints).toEqual([]);
    const { rows } = await money.owner.query(
      `select p.counter > 0 and p.last_used_at is not null and s.step_up_at is not null as noted
       from sverka.passkey p join sverka.session s using (user_id) where user_id = $1`,
      [approver.userId],
    );
    expect(rows).toEqual([{ noted: true }]);
  });

  it('says without JavaScript that it needs it, and rejecting goes on without', async () => {
    const id = await money.request();
    expect((await approver.bare.get(`/operator/withdrawals/${id}`)).text).toMatch(/<noscript>.*needs JavaScript/s);
    const refused = await approve(approver.bare, id, '');
    expect([refused.status, refused.text.includes('your passkey was not asked')]).toEqual([422, true]);
    expect(await decisionsOn(id)).toBe(0);
    const form = { ...(await shown(approver.bare, id)), choice: 'reject', reason: 'not ours' };
    expect((await approver.bare.post(`/operator/withdrawals/${id}/decisions`, form)).status).toBe(303);
  });

  it('is told when the passkey does not verify its holder, and approves with the next try', async () => {
    const id = await money.request();
    const { page, passkey } = approver;
    await passkey.setVerified(false);
    await page.goto(`http://localhost:${listener.port}/operator/withdrawals/${id}`);
    await page.getByRole('radio', { name: 'Approve' }).check();
    await page.locator('#reason').fill('asked the merchant');
    await page.getByRole('button', { name: 'Record decision' }).click();
    await page.getByText('the browser got no answer from a passkey').waitFor();
    expect(await decisionsOn(id)).toBe(0);
    await passkey.setVerified(true);
    await page.getByRole('button', { name: 'Record decision' }).click();
    await page.waitForURL(/\?decision=dec_/);
    expect(await decisionsOn(id)).toBe(1);
  });

  describe('refuses what a passkey signed', () => {
    /** Both are right but for what the test changes: the control shows that the same is taken otherwise. */
    async function refusedThenTaken(id: string, answer: string, by: TestBrowser = approver.bare) {
      const refused = await approve(by, id, answer);
      expect([refused.status, refused.text.includes('what your passkey signed is not for this')]).toEqual([422, true]);
      expect(await decisionsOn(id)).toBe(0);
      const { csrf, seen } = await shown(approver.bare, id);
      expect((await approve(approver.bare, id, await approver.passkey.sign({ csrf, seen }))).status).toBe(303);
    }
    const signFor = async (id: string, of: { userVerification?: 'discouraged' } = {}) => {
      const { csrf, seen } = await shown(approver.bare, id);
      return approver.passkey.sign({ csrf, seen, ...of });
    };

    it('for another withdrawal', async () => {
      const [one, other] = [await money.request(), await money.request()];
      await refusedThenTaken(one, await signFor(other));
    });

    it('for the same in another session of the same person', async () => {
      const id = await money.request();
      await refusedThenTaken(id, await signFor(id), await signedIn(approver.userId));
    });

    it('twice', async () => {
      const id = await money.request();
      const answer = await signFor(id);
      const right = `subject_type = 'withdrawal' and choice = 'approve'`;
      await money.owner.query(`update sverka.decision_right set role = 'auditor' where ${right}`);
      expect((await approve(approver.bare, id, answer)).status).toBe(403);
      await money.owner.query(`update sverka.decision_right set role = 'approver' where ${right}`);
      await refusedThenTaken(id, answer);
    });

    it('too long ago', async () => {
      const id = await money.request();
      const answer = await signFor(id);
      await money.owner.query('update sverka.passkey_challenge set expires_at = clock_timestamp()');
      await refusedThenTaken(id, answer);
    });

    it('without verifying its holder', async () => {
      const id = await money.request();
      await approver.passkey.setVerified(false);
      const answer = await signFor(id, { userVerification: 'discouraged' });
      await approver.passkey.setVerified(true);
      await refusedThenTaken(id, answer);
    });

    it('and was changed', async () => {
      const id = await money.request();
      const answer = JSON.parse(await signFor(id)) as { response: { signature: string } };
      const signature = Buffer.from(answer.response.signature, 'base64url');
      signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
      answer.response.signature = signature.toString('base64url');
      await refusedThenTaken(id, JSON.stringify(answer));
    });

    it.each([
      '{}',
      'null',
      '[]',
      'x',
      '{"id":"x","rawId":"x","type":"public-key","response":{"clientDataJSON":"e30"}}',
    ])('and is %s', async (answer) => refusedThenTaken(await money.request(), answer));

    it('when it is that of another person', async () => {
      const other = await open(money.approver2);
      await addPasskey(other);
      const id = await money.request();
      const { csrf, seen } = await shown(other.bare, id);
      await refusedThenTaken(id, await other.passkey.sign({ csrf, seen }));
    });

    it('when its counter does not grow, so that it may be a copy', async () => {
      const id = await money.request();
      const before = 'update sverka.passkey set counter = $2 where user_id = $1 returning counter';
      await money.owner.query(before, [approver.userId, 1_000_000]);
      const refused = await approve(approver.bare, id, await signFor(id));
      expect(refused.status).toBe(422);
      await money.owner.query(before, [approver.userId, 1]);
      await refusedThenTaken(id, 'x');
    });
  });

  it('a session that is older than five minutes adds no passkey', async () => {
    const browser = await signedIn(money.approver2);
    await money.owner.query(
      `update sverka.session set created_at = created_at - interval '5 minutes' where user_id = $1`,
      [money.approver2],
    );
    expect((await browser.get('/operator/passkeys')).text).toContain('within five minutes after signing in');
    expect((await browser.post('/operator/passkeys/options')).status).toBe(403);
    expect((await browser.post('/operator/passkeys', { answer: '{}' })).status).toBe(403);
  });

  it('a removed passkey approves nothing more, and nobody removes that of another', async () => {
    const id = await money.request();
    const { csrf, seen } = await shown(approver.bare, id);
    const answer = await approver.passkey.sign({ csrf, seen });
    const { id: passkey } = JSON.parse(answer) as { id: string };
    const other = await signedIn(money.approver2);
    await other.get('/operator/passkeys');
    await other.post('/operator/passkeys/remove', { passkey });
    await approver.bare.get('/operator/passkeys');
    expect((await approver.bare.get('/operator/passkeys')).text).toContain(passkey.slice(0, 12));
    expect((await approver.bare.post('/operator/passkeys/remove', { passkey })).status).toBe(303);
    expect((await approve(approver.bare, id, answer)).status).toBe(422);
    expect(await decisionsOn(id)).toBe(0);
  });
});
