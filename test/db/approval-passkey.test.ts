import { type ApprovalWorld, type Approver, approveIn, openApprovalWorld, shownIn } from '../support/approval-world.js';
import { noBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/pages.js';

const missing = noBrowser();
const inBrowser = missing === null ? describe : describe.skip;
if (missing !== null) process.stdout.write(`Passkeys are not tried: ${missing}.\n`);

let world: ApprovalWorld;
let approver: Approver;
beforeAll(async () => {
  if (missing !== null) return;
  world = await openApprovalWorld();
  approver = await world.open(world.money.approver);
});
afterAll(() => world?.close());

/** Both are right but for what the test changes: the control shows that the same is taken otherwise. */
async function refusedThenTaken(id: string, answer: string, by: TestBrowser = approver.bare) {
  const refused = await approveIn(by, id, answer);
  expect([refused.status, refused.text.includes('what your passkey signed is not for this')]).toEqual([422, true]);
  expect(await world.decisionsOn(id)).toBe(0);
  expect((await approveIn(approver.bare, id, await approver.signFor(id))).status).toBe(303);
}

inBrowser('approving a withdrawal', () => {
  it('is refused to who has no passkey yet, who is shown where to add one', async () => {
    const id = await world.money.request();
    const { text } = await approver.bare.get(`/operator/withdrawals/${id}`);
    expect(text).toContain('Approving needs a passkey, and you have none yet');
    expect((await approveIn(approver.bare, id, '')).status).toBe(422);
    expect(await world.decisionsOn(id)).toBe(0);
  });

  it('takes the passkey that was added on the own page, and the browser complains of nothing', async () => {
    await approver.addPasskey();
    const id = await world.money.request();
    const { page, complaints } = approver;
    await page.goto(`${world.site}/withdrawals/${id}`);
    await page.getByRole('radio', { name: 'Approve' }).check();
    await page.locator('#reason').fill('asked the merchant');
    await page.getByRole('button', { name: 'Record decision' }).click();
    await page.waitForURL(/\?decision=dec_/);
    expect(await world.decisionsOn(id)).toBe(1);
    expect(complaints).toEqual([]);
    const { rows } = await world.money.owner.query(
      `select p.counter > 0 and p.last_used_at is not null and s.step_up_at is not null as noted
       from sverka.passkey p join sverka.session s using (user_id) where user_id = $1`,
      [approver.userId],
    );
    expect(rows).toEqual([{ noted: true }]);
  });

  it('without JavaScript the page says that approving needs it, and rejecting goes on without', async () => {
    const id = await world.money.request();
    expect((await approver.bare.get(`/operator/withdrawals/${id}`)).text).toMatch(/<noscript>.*needs JavaScript/s);
    const refused = await approveIn(approver.bare, id, '');
    expect([refused.status, refused.text.includes('your passkey was not asked')]).toEqual([422, true]);
    expect(await world.decisionsOn(id)).toBe(0);
    const form = { ...(await shownIn(approver.bare, id)), choice: 'reject', reason: 'not ours' };
    expect((await approver.bare.post(`/operator/withdrawals/${id}/decisions`, form)).status).toBe(303);
  });

  it('whoever the passkey does not verify is told, and approves with the next try', async () => {
    const id = await world.money.request();
    const { page, passkey } = approver;
    await passkey.setVerified(false);
    await page.goto(`${world.site}/withdrawals/${id}`);
    await page.getByRole('radio', { name: 'Approve' }).check();
    await page.locator('#reason').fill('asked the merchant');
    await page.getByRole('button', { name: 'Record decision' }).click();
    await page.getByText('the browser got no answer from a passkey').waitFor();
    expect(await world.decisionsOn(id)).toBe(0);
    await passkey.setVerified(true);
    await page.getByRole('button', { name: 'Record decision' }).click();
    await page.waitForURL(/\?decision=dec_/);
    expect(await world.decisionsOn(id)).toBe(1);
  });
});

inBrowser('of what a passkey has signed', () => {
  it('what a passkey signed for another withdrawal is refused', async () => {
    const [one, other] = [await world.money.request(), await world.money.request()];
    await refusedThenTaken(one, await approver.signFor(other));
  });

  it('what it signed for the same in another session of the same person is refused', async () => {
    const id = await world.money.request();
    await refusedThenTaken(id, await approver.signFor(id), await world.signedIn(approver.userId));
  });

  it('what it signed is taken once', async () => {
    const id = await world.money.request();
    const answer = await approver.signFor(id);
    const right = `subject_type = 'withdrawal' and choice = 'approve'`;
    await world.money.owner.query(`update sverka.decision_right set role = 'auditor' where ${right}`);
    expect((await approveIn(approver.bare, id, answer)).status).toBe(403);
    await world.money.owner.query(`update sverka.decision_right set role = 'approver' where ${right}`);
    await refusedThenTaken(id, answer);
  });

  it('what it signed too long ago is refused', async () => {
    const id = await world.money.request();
    const answer = await approver.signFor(id);
    await world.money.owner.query('update sverka.passkey_challenge set expires_at = clock_timestamp()');
    await refusedThenTaken(id, answer);
  });

  it('what it signed without verifying its holder is refused', async () => {
    const id = await world.money.request();
    await approver.passkey.setVerified(false);
    const answer = await approver.signFor(id, { userVerification: 'discouraged' });
    await approver.passkey.setVerified(true);
    await refusedThenTaken(id, answer);
  });

  it('a signature that was changed is refused', async () => {
    const id = await world.money.request();
    const answer = JSON.parse(await approver.signFor(id)) as { response: { signature: string } };
    const signature = Buffer.from(answer.response.signature, 'base64url');
    signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
    answer.response.signature = signature.toString('base64url');
    await refusedThenTaken(id, JSON.stringify(answer));
  });

  it.each(['{}', 'null', '[]', 'x', '{"id":"x","rawId":"x","type":"public-key","response":{"clientDataJSON":"e30"}}'])(
    'an answer that is none is refused: %s',
    async (answer) => refusedThenTaken(await world.money.request(), answer),
  );
});

inBrowser('of passkeys', () => {
  it('a passkey of another person is refused', async () => {
    const other = await world.open(world.money.approver2);
    await other.addPasskey();
    const id = await world.money.request();
    const { challenge } = await approver.ask(id);
    await refusedThenTaken(id, await other.signFor(id, { challenge }));
  });

  it('a passkey whose counter does not grow is refused, for it may be a copy', async () => {
    const id = await world.money.request();
    const before = 'update sverka.passkey set counter = $2 where user_id = $1 returning counter';
    await world.money.owner.query(before, [approver.userId, 1_000_000]);
    const refused = await approveIn(approver.bare, id, await approver.signFor(id));
    expect(refused.status).toBe(422);
    await world.money.owner.query(before, [approver.userId, 1]);
    await refusedThenTaken(id, 'x');
  });

  it('a session that is older than five minutes adds no passkey', async () => {
    const browser = await world.signedIn(world.money.approver2);
    await world.money.owner.query(
      `update sverka.session set created_at = created_at - interval '5 minutes' where user_id = $1`,
      [world.money.approver2],
    );
    expect((await browser.get('/operator/passkeys')).text).toContain('within five minutes after signing in');
    expect((await browser.post('/operator/passkeys/options')).status).toBe(403);
    expect((await browser.post('/operator/passkeys', { answer: '{}' })).status).toBe(403);
  });

  it('a removed passkey approves nothing more, and nobody removes that of another', async () => {
    const id = await world.money.request();
    const answer = await approver.signFor(id);
    const { id: passkey } = JSON.parse(answer) as { id: string };
    const other = await world.signedIn(world.money.approver2);
    await other.get('/operator/passkeys');
    await other.post('/operator/passkeys/remove', { passkey });
    await approver.bare.get('/operator/passkeys');
    expect((await approver.bare.get('/operator/passkeys')).text).toContain(passkey.slice(0, 12));
    expect((await approver.bare.post('/operator/passkeys/remove', { passkey })).status).toBe(303);
    expect((await approveIn(approver.bare, id, answer)).status).toBe(422);
    expect(await world.decisionsOn(id)).toBe(0);
  });
});
