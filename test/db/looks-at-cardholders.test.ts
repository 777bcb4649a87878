import type pg from 'pg';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { makePerson } from '../support/decisions.js';
import { openTestPages, type TestPages } from '../support/pages.js';

let pages: TestPages;
let console_: pg.Pool;
let merchantId: string;
let auditor: string;
const cardholder = newId('cardholder');

beforeAll(async () => {
  pages = await openTestPages();
  console_ = createPool(pages.database.urlFor('console'), { max: 2, applicationName: 'test' });
  merchantId = await pages.makeRequester('requester-1');
  auditor = await makePerson(pages.owner, 'auditor-1', ['auditor']);
  await pages.owner.query(
    `insert into sverka.cardholder (id, book, merchant_id, first_initial, last_initial, country, state, actor)
       values ($1, 'live', $2, 'Ж', 'Q', 'UY', 'active', 'test')`,
    [cardholder, merchantId],
  );
});
afterAll(async () => {
  await console_.end();
  await pages.close();
});

async function looks(): Promise<object[]> {
  const { rows } = await pages.owner.query(
    `select actor, from_state as "from", to_state as "to", version, book, merchant_id as merchant, trace_id as trace
       from sverka.audit where subject_type = 'cardholder' and subject_id = $1 and reason = 'read' order by id`,
    [cardholder],
  );
  return rows;
}
const look = (by: string) =>
  console_.query('select * from sverka.look_at_cardholder($1, $2, $3)', [cardholder, by, 't']);

test('each look of a person of ours at who a cardholder is leaves its row, which the page shows', async () => {
  const browser = pages.browser('console');
  await browser.signIn('auditor-1');
  for (let n = 1; n <= 2; n += 1) {
    const { status, text } = await browser.get(`/operator/trace/${cardholder}`);
    expect(status).toBe(200);
    expect(text).toContain('Ж. Q.');
    expect(text).toContain('<dd>UY</dd>');
    expect(text.match(/read/g)?.length ?? 0).toBeGreaterThanOrEqual(n);
    expect(await looks()).toHaveLength(n);
  }
  const [row] = await looks();
  expect(row).toEqual({
    ...{ actor: `user:${auditor}`, from: 'active', to: 'active', version: 1, book: 'live', merchant: merchantId },
    trace: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  const { findings } = await verifyLedger(console_, 'all', { subjects: true });
  expect(findings).toEqual([]);
});

test('whoever is nobody, of a merchant, or shut out sees nothing and leaves nothing', async () => {
  const before = await looks();
  const gone = await makePerson(pages.owner, 'operator-gone');
  await pages.owner.query('select sverka.set_user_disabled($1, true)', [gone]);
  const { rows } = await pages.owner.query(`select id from sverka."user" where merchant_id = $1`, [merchantId]);
  for (const by of [gone, rows[0].id, 'usr_nobody']) await expect(look(by)).rejects.toMatchObject({ code: 'SV403' });
  const browser = pages.browser('console');
  expect((await browser.get(`/operator/trace/${cardholder}`)).text).not.toContain('UY');
  expect(await looks()).toEqual(before);
});

test('there is no other way to it for the role of console and command line', async () => {
  for (const column of ['first_initial', 'last_initial', 'country', '*']) {
    await expect(console_.query(`select ${column} from sverka.cardholder`)).rejects.toMatchObject({ code: '42501' });
  }
  expect((await console_.query('select id, state from sverka.cardholder')).rowCount).toBe(1);
});
