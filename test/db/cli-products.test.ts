import type pg from 'pg';
import { checkCards } from '../../src/cli/doctor/check-cards.js';
import { providerAccountName } from '../../src/contracts/ids.js';
import { cardFee } from '../../src/db/cards.js';
import { createMerchant } from '../../src/db/merchants.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { providerAccounts, providerHooks } from '../../src/local/provider-accounts.js';
import { seed } from '../../src/local/seed.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
let cli: CommandLine;
let merchantId: string;

beforeEach(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  cli = openCommandLine(runWithConsole(database.urlFor('console')));
  merchantId = await createMerchant(queriesOf(owner), 'Nordwind');
});
afterEach(async () => {
  cli.remove();
  await owner.end();
  await database.close();
});

const feesOf = async (...flags: string[]) =>
  ((await cli.json(['products', 'list', ...flags]))['data'] as Record<string, unknown>[]).map(
    ({ product, merchant_id, fee }) => [product, merchant_id, (fee as { amount: string }).amount],
  );
const fee = (product: string) => cardFee(queriesOf(owner), { merchantId, product, asset: 'USD' });

it('a fee counts for all, one of a merchant before it; each change is kept with who made it', async () => {
  expect(await feesOf()).toEqual([]);
  const first = await cli.json(['products', 'set-fee', 'instant', '1', 'USD']);
  expect(first).toMatchObject({
    ...{ object: 'product_fee', product: 'instant', merchant_id: null, fee: { amount: '1.00', asset: 'USD' } },
    ...{ set_by: expect.stringMatching(/^cli:./), changed: true, before: null },
  });
  await cli.json(['products', 'set-fee', 'async', '0', 'USD']);
  expect(await cli.json(['products', 'set-fee', 'instant', '0.50', 'USD', '--merchant', merchantId])).toMatchObject({
    merchant_id: merchantId,
  });
  expect(await fee('instant')).toBe(50n);
  expect(await fee('async')).toBe(0n);
  expect(await cli.json(['products', 'set-fee', 'instant', '2.5', 'USD'])).toMatchObject({
    ...{ changed: true, before: { amount: '1.00', asset: 'USD' } },
  });
  expect(await cli.json(['products', 'set-fee', 'instant', '2.50', 'USD'])).toMatchObject({ changed: false });
  const all = [
    ['async', null, '0.00'],
    ['instant', null, '2.50'],
    ['instant', merchantId, '0.50'],
  ];
  expect(await feesOf()).toEqual(all);
  expect(await feesOf('--merchant', merchantId)).toEqual(all);
  expect(await feesOf('--merchant', await createMerchant(queriesOf(owner), 'Ostwind'))).toEqual(all.slice(0, 2));
  const page = await cli.json(['products', 'list', '--limit', '2']);
  expect(await feesOf('--limit', '2', '--cursor', String(page['next_cursor']))).toEqual(all.slice(2));
  const { rows } = await owner.query('select product, before, after, set_by from sverka.card_fee_change order by id');
  expect(rows.map(({ product, before, after }) => [product, before, after])).toEqual([
    ['instant', null, '100'],
    ['async', null, '0'],
    ['instant', null, '50'],
    ['instant', '100', '250'],
  ]);
  expect(new Set(rows.map(({ set_by }) => set_by))).toEqual(new Set([first['set_by']]));
  await expect(owner.query('delete from sverka.card_fee_change')).rejects.toThrow(/append-only/);
});

it('a dry run changes nothing; what is no fee is refused as usage, a merchant who is not there with 3', async () => {
  expect(await cli.json(['products', 'set-fee', 'instant', '1', 'USD', '--dry-run'])).toMatchObject({
    object: 'dry_run',
    would: 'set the fee of instant cards to 1.00 USD for all',
    subject: null,
  });
  for (const wrong of [
    ['plastic', '1', 'USD'],
    ['instant', '1.001', 'USD'],
    ['instant', '1e2', 'USD'],
    ['instant', '1', 'DOLLARS'],
  ]) {
    await cli.problem(['products', 'set-fee', ...wrong], 2);
  }
  await cli.problem(['products', 'set-fee', 'instant', '1', 'USD', '--merchant', 'mer_00000000000000000000000000'], 3);
  expect(await feesOf()).toEqual([]);
});

it('only the console’s role sets a fee, through its function alone', async () => {
  for (const role of ['worker', 'gateway'] as const) {
    const pool = createPool(database.urlFor(role), { max: 1, applicationName: 'test' });
    const call = `select sverka.set_card_fee(null, 'instant', 'USD', 1, 'somebody')`;
    await expect(pool.query(call)).rejects.toMatchObject({ code: '42501' });
    await pool.end();
  }
  const console = createPool(database.urlFor('console'), { max: 1, applicationName: 'test' });
  await expect(console.query('delete from sverka.card_fee')).rejects.toMatchObject({ code: '42501' });
  await console.end();
});

it('the doctor names a missing issuer and a missing fee, and is content with those of a local run', async () => {
  const db = queriesOf(owner);
  const hooks = providerHooks(providerAccounts({}, 'http://127.0.0.1:9', providerAccountName));
  const bad = await checkCards(db, {
    hooks: hooks.filter(({ provider, book }) => provider !== 'issuer' || book === 'live'),
  });
  expect(bad.map(({ check, state }) => `${check} ${state}`)).toEqual([
    'issuer:live ok',
    'issuer:test warning',
    'fee:instant warning',
    'fee:async warning',
  ]);
  expect(bad[1]?.fix).toContain('SVERKA_TEST_ISSUER_{URL,API_KEY,WEBHOOK_SECRETS}');
  expect(bad[2]?.fix).toContain('sverka products set-fee instant 1.00 USD');
  await seed(database.url);
  expect((await checkCards(db, { hooks })).map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect((await checkCards(db, null)).map(({ check }) => check)).toEqual(['fee:instant', 'fee:async']);
});

it('a start sets 1.00 USD for both products, and leaves a fee that somebody has set', async () => {
  await seed(database.url);
  expect(await feesOf()).toEqual([
    ['async', null, '1.00'],
    ['instant', null, '1.00'],
  ]);
  await cli.json(['products', 'set-fee', 'async', '3', 'USD']);
  await seed(database.url);
  expect(await fee('async')).toBe(300n);
});
