import type { Author } from '../../src/db/author.js';
import { linkIdentity, unlinkIdentity } from '../../src/db/identities.js';
import { createLoginLink } from '../../src/db/login-links.js';
import { createApiKey, createMerchant, revokeApiKey } from '../../src/db/merchants.js';
import { addPasskey, removePasskey } from '../../src/db/passkeys.js';
import { revokeSessionsOf } from '../../src/db/sessions.js';
import { createUser, setUserDisabled, setUserRoles } from '../../src/db/users.js';
import { setWithdrawalOffer, setWithdrawalPolicy } from '../../src/db/withdrawal-book.js';
import { openTestPages, type TestPages } from '../support/pages.js';

const BY: Author = { actor: 'user:usr_admin', traceId: 'a'.repeat(32) };

let pages: TestPages;
beforeAll(async () => {
  pages = await openTestPages();
});
afterAll(() => pages?.close());

/** What the audit has since the last look, oldest first. */
let seen = '0';
async function added(): Promise<string[]> {
  const rows = await pages.tx.query<{ id: string; line: string }>(
    `select id::text, concat_ws(' ', subject_type, book, coalesce(from_state, '-') || ' > ' || to_state, 'v' || version,
       reason, actor, trace_id) as line from sverka.audit where id > $1 order by id`,
    [seen],
  );
  seen = rows.at(-1)?.id ?? seen;
  return rows.map(({ line }) => line.replace(` ${BY.actor} ${BY.traceId}`, ' BY'));
}

test('each act on a merchant, its keys and people stands in the audit: who did it, and what was before', async () => {
  const merchantId = await createMerchant(pages.tx, 'Nordwind', BY);
  expect(await added()).toEqual(['merchant both - > active v1 merchant_created BY']);
  const { id: key } = await createApiKey(pages.tx, { merchantId, book: 'test', access: 'read_only' }, BY);
  for (let n = 0; n < 2; n += 1) await revokeApiKey(pages.tx, key, BY);
  expect(await added()).toEqual([
    'api_key test - > read_only v1 key_created BY',
    'api_key test read_only > revoked v2 key_revoked BY',
  ]);

  const id = await createUser(pages.tx, { login: 'nina', roles: ['operator'] }, BY);
  for (let n = 0; n < 2; n += 1) await setUserRoles(pages.tx, { id, roles: ['operator', 'approver'] }, BY);
  for (const isDisabled of [true, true, false]) await setUserDisabled(pages.tx, { id, isDisabled }, BY);
  await createLoginLink(pages.tx, 'nina', BY);
  await revokeSessionsOf(pages.tx, id, BY);
  expect(await added()).toEqual([
    'user both - > operator v1 user_created BY',
    'user both operator > approver,operator v2 roles_changed BY',
    'user both approver,operator > disabled v3 user_disabled BY',
    'user both disabled > approver,operator v4 user_enabled BY',
    'user both approver,operator > approver,operator v5 link_made BY',
    'user both approver,operator > approver,operator v6 sessions_revoked BY',
  ]);

  const identity = { userId: id, issuer: 'https://idp.example', subject: 'nina' };
  await linkIdentity(pages.tx, identity, BY);
  for (let n = 0; n < 2; n += 1) await unlinkIdentity(pages.tx, identity, BY);
  const passkey = { userId: id, id: 'credential-1', publicKey: Buffer.alloc(32), counter: 0, transports: [] };
  await addPasskey(pages.tx, passkey, BY);
  for (let n = 0; n < 2; n += 1) await removePasskey(pages.tx, passkey, BY);
  expect((await added()).map((line) => line.split(' ').at(-2))).toEqual([
    ...['identity_linked', 'identity_unlinked', 'passkey_added', 'passkey_removed'],
  ]);
});

test('the terms of withdrawals stand there before and after, and the same terms again do not', async () => {
  const offer = { book: 'live', network: 'tron', asset: 'USDT-TRC20', routes: ['manual'] } as const;
  await setWithdrawalOffer(pages.tx, { ...offer, fee: 1n, smallest: 2n, twoApprovalsFrom: 3n }, BY);
  for (let n = 0; n < 2; n += 1)
    await setWithdrawalOffer(pages.tx, { ...offer, fee: 1n, smallest: 2n, twoApprovalsFrom: 4n }, BY);
  const policy = { book: 'live', coolingOffMs: 1_000, expiresAfterMs: 2_000 } as const;
  for (let n = 0; n < 2; n += 1) await setWithdrawalPolicy(pages.tx, policy, BY);
  const terms = (two: number) => `USDT-TRC20 on tron: fee 1, smallest 2, two approvals from ${two}, by manual`;
  expect(await added()).toEqual([
    `withdrawal_terms live - > ${terms(3)} v1 offer_set BY`,
    `withdrawal_terms live ${terms(3)} > ${terms(4)} v2 offer_set BY`,
    expect.stringMatching(/^withdrawal_terms live .* > cooling-off 00:00:01, expires after 00:00:02 v3 policy_set BY$/),
  ]);
});

test('an act that names nobody stands there with the database role that came', async () => {
  await createMerchant(pages.tx, 'Ostwind');
  const [{ name } = { name: '' }] = await pages.tx.query<{ name: string }>('select session_user as name');
  expect(await added()).toEqual([`merchant both - > active v1 merchant_created database:${name}`]);
});

test('an admin’s pages name the person, and show what was done', async () => {
  const id = await createUser(pages.tx, { login: 'root', roles: ['admin'] });
  const admin = pages.browser('console');
  await admin.signIn('root');
  await admin.get('/operator/merchants');
  await added();
  const made = await admin.post('/operator/merchants', { name: 'Südwind' });
  const [line = ''] = await added();
  expect(line).toMatch(new RegExp(`^merchant both - > active v1 merchant_created user:${id} [0-9a-f]{32}$`));
  const merchantId = made.headers.get('location')?.split('/').at(-1) ?? '';
  expect((await admin.get(`/operator/merchants/${merchantId}`)).text).toContain(`/operator/trace/${merchantId}`);
  const { text } = await admin.get(`/operator/trace/${merchantId}`);
  for (const said of ['merchant_created', 'root']) expect(text).toContain(said);
});

test('an admin sets terms of withdrawals on their page, which leads to what was done; others only read', async () => {
  await createUser(pages.tx, { login: 'boss', roles: ['admin'] });
  await createUser(pages.tx, { login: 'looker', roles: ['auditor'] });
  const [admin, auditor] = [pages.browser('console'), pages.browser('console')];
  await admin.signIn('boss');
  await admin.get('/operator/terms');
  const terms = { network: 'tron', asset: 'USDT-TRC20', fee: '1', smallest: '2.5', two: '1000', routes: 'custody' };
  const offers = '/operator/terms/offers';
  const bad = [{ asset: 'DOGE' }, { fee: '-1' }, { smallest: '0' }, { two: '1.1234567' }, { network: 'a b' }];
  for (const wrong of bad) {
    expect([wrong, (await admin.post(offers, { ...terms, ...wrong })).status]).toEqual([wrong, 422]);
  }
  await added();
  expect((await admin.post(offers, terms)).status).toBe(303);
  expect((await admin.post('/operator/terms/policy', { cooling: '5', expires: '0' })).status).toBe(422);
  expect((await admin.post('/operator/terms/policy', { cooling: '5', expires: '48' })).status).toBe(303);
  const lines = await added();
  expect(lines.map((line) => line.split(' > ')[1]?.split(' user:')[0])).toEqual([
    expect.stringMatching(
      /^USDT-TRC20 on tron: fee 1000000, smallest 2500000, two approvals from 1000000000, by custody v\d+ offer_set$/,
    ),
    expect.stringMatching(/^cooling-off 05:00:00, expires after 48:00:00 v[0-9]+ policy_set$/),
  ]);
  await auditor.signIn('looker');
  const page = await auditor.get('/operator/terms');
  expect(page.text).toContain('USDT-TRC20');
  expect(page.text).not.toContain(offers);
  expect((await auditor.post(offers, terms)).status).toBe(403);
  expect((await auditor.get('/operator/trace/withdrawal_terms:live')).text).toContain('policy_set');
});
