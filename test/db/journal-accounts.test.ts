import type pg from 'pg';
import { openAccounts, readBalances, readOwnerBalances } from '../../src/db/accounts.js';
import { BadValue, ConstraintViolation } from '../../src/db/errors.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { ASSETS } from '../../src/domain/assets.js';
import { ACCOUNT_KINDS, type AccountName, leg, MOVEMENT_KINDS } from '../../src/domain/journal.js';
import { fund, movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openTestDatabase();
  pool = createPool(database.urlFor('worker'), { max: 16, applicationName: 'test' });
});
afterAll(async () => {
  await pool.end();
  await database.close();
});

const open = (...names: AccountName[]) => inTransaction(pool, (tx) => openAccounts(tx, names));
const ownerOf = () => ({ book: 'live' as const, merchantId: newId('merchant'), customerId: null });

it('the assets of the database are those of the code', async () => {
  const { rows } = await pool.query('select code, decimals from ledger.asset order by code collate "C"');
  const listed = [...ASSETS].sort((a, b) => (a.code < b.code ? -1 : 1));
  expect(rows).toEqual(listed);
});

it('every kind of account of the code can be opened, bounded as its kind demands', async () => {
  const owner = ownerOf();
  const named = ACCOUNT_KINDS.map((kind) => ({ ...owner, kind, ref: kind === 'hold' || kind === 'card' ? 'x_1' : '' }));
  await open(
    ...named.flatMap((name) => [
      { ...name, asset: 'EUR' },
      { ...name, asset: 'ETH' },
    ]),
  );
  const { rows } = await pool.query<{ kind: string; asset: string; floor: string | null; cap: string | null }>(
    'select kind, asset, floor, cap from ledger.account where merchant_id = $1',
    [owner.merchantId],
  );
  expect(new Set(rows.map((row) => row.kind))).toEqual(new Set(ACCOUNT_KINDS));
  for (const { kind, asset, floor, cap } of rows) {
    const [low, high] = asset === 'EUR' ? ['-9223372036854775808', '9223372036854775807'] : [null, null];
    expect([kind, floor]).toEqual([kind, ['wallet', 'hold', 'card'].includes(kind) ? '0' : low]);
    expect([kind, cap]).toEqual([kind, kind === 'receivable' ? '0' : high]);
  }
});

it('every kind of movement of the code has a name that the database takes', async () => {
  const { rows } = await pool.query<{ ok: boolean }>(
    `select bool_and(k ~ '^[a-z]+(_[a-z]+)*$') as ok from unnest($1::text[]) k`,
    [MOVEMENT_KINDS],
  );
  expect(rows[0]?.ok).toBe(true);
});

it('opening answers the same ids again, in the order asked for, and opens nothing twice', async () => {
  const owner = ownerOf();
  const hold = { ...owner, asset: 'EUR', kind: 'hold', ref: 'iss_1' } as const;
  const fees = { ...owner, asset: 'EUR', kind: 'fees' } as const;
  const [a, b] = await open(hold, fees);
  expect(await open(fees, hold, fees)).toEqual([b, a, b]);
  expect((await open({ ...hold, ref: 'iss_2' }))[0]).not.toBe(a);
  expect((await open({ ...fees, book: 'test' }))[0]).not.toBe(b);
});

it.each(['wallet', 'receivable'] as const)('a %s never comes without its pair', async (kind) => {
  const customer = { ...ownerOf(), customerId: newId('customer') };
  await open({ ...customer, asset: 'EUR', kind });
  const shown = await readOwnerBalances(queriesOf(pool), customer);
  expect(shown.map((account) => account.kind).sort()).toEqual(['receivable', 'wallet']);
});

it('32 callers that open the same accounts in different orders agree', async () => {
  const owner = ownerOf();
  const names: AccountName[] = ['EUR', 'USD', 'JPY', 'BTC'].flatMap((asset) => [
    { ...owner, asset, kind: 'wallet' },
    { ...owner, asset, kind: 'hold', ref: 'iss_1' },
    { ...owner, asset, kind: 'clearing:issuer' },
  ]);
  const answers = await Promise.all(
    Array.from({ length: 32 }, async (_, i) => {
      const mine = [...names.slice(i % names.length), ...names.slice(0, i % names.length)];
      const ids = await open(...mine);
      return names.map((name) => ids[mine.indexOf(name)]);
    }),
  );
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  const { rows } = await pool.query('select from ledger.account where merchant_id = $1', [owner.merchantId]);
  expect(rows).toHaveLength(16);
});

it('an asset that is not listed is refused with what to do, an account that cannot be by its constraint', async () => {
  const owner = ownerOf();
  await expect(open({ ...owner, asset: 'USDT', kind: 'wallet' })).rejects.toThrow(/asset USDT is not listed; add it/);
  await expect(open({ ...owner, asset: 'USDT', kind: 'wallet' })).rejects.toBeInstanceOf(BadValue);
  await expect(open({ ...owner, asset: 'EUR', kind: 'hold' })).rejects.toBeInstanceOf(ConstraintViolation);
  const theirs = { ...owner, customerId: newId('customer') };
  await expect(open({ ...theirs, asset: 'EUR', kind: 'fees' })).rejects.toBeInstanceOf(ConstraintViolation);
});

it('balances are bigint, add up, and name the last movement', async () => {
  const purse = await openPurse(pool);
  await fund(pool, purse, { wallet: 100n });
  const [last] = await postNow(pool, movement([leg(purse.wallet, -30n), leg(purse.hold, 30n)]));
  const balances = await readBalances(queriesOf(pool), [purse.wallet, purse.card]);
  expect(balances.get(purse.wallet)).toMatchObject({ seq: 2n, balance: 70n, lastMovementId: last?.movementId });
  expect((balances.get(purse.wallet)?.balance ?? 0n) + 1n).toBe(71n);
  expect(balances.get(purse.card)).toMatchObject({ seq: 0n, balance: 0n, lastMovementId: null, ref: 'card_1' });
  const shown = await readOwnerBalances(queriesOf(pool), purse.owner);
  expect(shown.find((account) => account.kind === 'hold')).toMatchObject({ ref: 'iss_1', balance: 30n, decimals: 2 });
  expect(shown).toHaveLength(5);
});
