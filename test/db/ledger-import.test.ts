import { createHash } from 'node:crypto';
import type pg from 'pg';
import { findLedgerImport, type LedgerImport, requestLedgerImport } from '../../src/db/ledger-imports.js';
import { createMerchant } from '../../src/db/merchants.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { draw, leg } from '../../src/domain/journal.js';
import { type OpeningBalance, readOpeningBalances } from '../../src/domain/opening-balances.js';
import { makePerson } from '../support/decisions.js';
import { expectDepositInvariants, expectNothingComesOf } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants, sumOfEntries } from '../support/money-invariants.js';

let world: DepositWorld;
let console: pg.Pool;
let merchantId: string;

beforeEach(async () => {
  world = await openDepositWorld();
  console = createPool(world.database.urlFor('console'), { max: 2, applicationName: 'test' });
  merchantId = world.merchantId;
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
  await console.end();
  await world.close();
});

interface File {
  readonly hash: Buffer;
  readonly openings: OpeningBalance[];
}

function fileOf(...lines: string[]): File {
  const text = ['book,owner,asset,amount,reference', ...lines].join('\n');
  const openings = readOpeningBalances(text);
  if ('problems' in openings) throw new Error(JSON.stringify(openings));
  return { hash: createHash('sha256').update(text).digest(), openings };
}
const BY = { userId: null, traceId: 'a'.repeat(32) };
const request = (file: File) => requestLedgerImport(queriesOf(console), file, BY);

/** Asks for it, lets the sweep come by, and answers what came of it. */
async function post(file: File): Promise<Pick<LedgerImport, 'state' | 'problems'>> {
  await request(file);
  await world.sweep();
  const found = await findLedgerImport(queriesOf(console), file.hash);
  if (!found) throw new Error('The file was not kept.');
  return { state: found.state, problems: found.problems };
}
const posted = { state: 'posted', problems: [] };
const wallet = (asset: string, customerId: string | null = null, of = merchantId) =>
  sumOfEntries(world.pool, { book: 'live', merchantId: of, customerId, kind: 'wallet', asset });
const used = (line: number) => ({ line, detail: 'the account is used already' });

it('posts each line from the owner’s opening account to the wallet, and makes customers who are missing', async () => {
  const lines = [`live,${merchantId},USD,25.00,old book`, `live,${merchantId}/player-7,EUR,7,`];
  expect(await post(fileOf(...lines))).toEqual(posted);
  const { rows } = await world.owner.query<{ id: string }>(`select id from sverka.customer where ref = 'player-7'`);
  const customerId = rows[0]?.id ?? '';
  expect([await wallet('USD'), await wallet('EUR', customerId)]).toEqual([2_500n, 700n]);
  const kind = { book: 'live' as const, merchantId, kind: 'opening' as const };
  expect(await sumOfEntries(world.pool, { ...kind, customerId: null, asset: 'USD' })).toBe(-2_500n);
  expect(await sumOfEntries(world.pool, { ...kind, customerId, asset: 'EUR' })).toBe(-700n);
  const movements = await world.owner.query(
    'select kind, subject_type, reference, trace_id from ledger.movement order by id',
  );
  expect(movements.rows).toEqual([
    { kind: 'opening', subject_type: 'ledger_import', reference: 'old book', trace_id: 'a'.repeat(32) },
    { kind: 'opening', subject_type: 'ledger_import', reference: null, trace_id: 'a'.repeat(32) },
  ]);
});

it('the same file is posted once, however often it is asked for and swept', async () => {
  const file = fileOf(`live,${merchantId},USD,25.00,`);
  expect(await post(file)).toEqual(posted);
  await expectNothingComesOf(world, async () => {
    expect(await post(file)).toEqual(posted);
    await Promise.all([request(file), request(file), world.sweep(), world.sweep()]);
  });
  expect(await wallet('USD')).toBe(2_500n);
  await expect(world.owner.query(`update sverka.ledger_import set state = 'requested'`)).rejects.toMatchObject({
    code: '23514',
  });
});

it('keeps who asked for it: a person who signed in, or the command line of whoever holds the role', async () => {
  const file = fileOf(`live,${merchantId},USD,25.00,`);
  const userId = await makePerson(world.owner, 'importer');
  const asked = async (by: string | null) => {
    await requestLedgerImport(queriesOf(console), file, { ...BY, userId: by });
    return (await findLedgerImport(queriesOf(console), file.hash))?.actor;
  };
  await expect(asked(newId('user'))).rejects.toMatchObject({ sqlstate: '42501' });
  expect(await asked(userId)).toBe(`user:${userId}`);
  await world.sweep();
  // What is posted stays so, and so does who asked.
  expect(await asked(null)).toBe(`user:${userId}`);
});

it('ten sweeps at once post it once', async () => {
  await request(fileOf(`live,${merchantId},USD,25.00,`));
  await Promise.all(Array.from({ length: 10 }, () => world.sweep()));
  expect(await wallet('USD')).toBe(2_500n);
  expect(await expectMoneyInvariants(world.pool)).toMatchObject({ movements: 1, entries: 2 });
});

describe('refuses a file whole, with the numbers of its lines, and posts nothing of it', () => {
  it('when an account was used before, by whatever', async () => {
    const spent = await openPurse(world.pool, { merchantId, asset: 'USD' });
    await postNow(world.pool, movement([leg(spent.clearing, -1n), leg(spent.wallet, 1n)]));
    await postNow(world.pool, movement([leg(spent.wallet, -1n), leg(spent.clearing, 1n)]));
    const owing = await openPurse(world.pool, { merchantId, asset: 'JPY' });
    await postNow(world.pool, movement([leg(owing.wallet, -5n), draw(owing.receivable), leg(owing.clearing, 5n)]));
    const before = await expectMoneyInvariants(world.pool);
    const file = fileOf(
      ...[`live,${merchantId},EUR,5,`, `live,${merchantId},USD,5,`, `live,${merchantId},JPY,5,`],
      ...[`test,${merchantId},USD,5,`, `live,${merchantId}/player-7,USD,5,`],
    );
    expect(await post(file)).toEqual({ state: 'refused', problems: [used(3), used(4)] });
    expect(await expectMoneyInvariants(world.pool)).toEqual(before);
    expect(await world.owner.query('select from sverka.customer')).toMatchObject({ rowCount: 0 });
  });

  it('when another file opened the account, with the same or another amount', async () => {
    expect(await post(fileOf(`live,${merchantId},USD,25.00,`))).toEqual(posted);
    for (const amount of ['25.00', '26']) {
      const file = fileOf(`live,${merchantId},EUR,1,${amount}`, `live,${merchantId},USD,${amount},again`);
      expect(await post(file)).toEqual({ state: 'refused', problems: [used(3)] });
    }
    expect([await wallet('USD'), await wallet('EUR')]).toEqual([2_500n, 0n]);
  });

  it('when a merchant is not there; asked for again when he is, it is posted', async () => {
    const later = await createMerchant(queriesOf(world.owner), 'Later');
    const file = fileOf(`live,${merchantId},USD,1,`, `live,${later},USD,2,`);
    await world.owner.query('alter table sverka.merchant disable trigger all');
    await world.owner.query(`delete from sverka.merchant where id = $1`, [later]);
    expect(await post(file)).toEqual({
      state: 'refused',
      problems: [{ line: 3, detail: 'there is no such merchant' }],
    });
    await world.owner.query(`insert into sverka.merchant (id, name) values ($1, 'Later')`, [later]);
    expect(await post(file)).toEqual(posted);
    expect([await wallet('USD'), await wallet('USD', null, later)]).toEqual([100n, 200n]);
  });

  it('also when the account is used in the moment between the look and the posting', async () => {
    const purse = await openPurse(world.pool, { merchantId, asset: 'USD' });
    // Between the two, while the customers are made, something else moves the wallet.
    await world.owner.query(
      `create function sverka.slip_in() returns trigger language plpgsql security definer as $$ begin
         perform ledger.post(array[sha256('slip')], array[sha256('b')], array['transfer'], array[2], array['t'],
           array['t'], array[0], array[null]::bytea[], array[null]::text[], array[${purse.clearing}, ${purse.wallet}],
           array[-1, 1], array['leg', 'leg']); return new; end $$`,
    );
    await world.owner.query(
      `create trigger slip_in after insert on sverka.customer for each row execute function sverka.slip_in()`,
    );
    const file = fileOf(`live,${merchantId}/new,EUR,1,`, `live,${merchantId},USD,5,`);
    expect(await post(file)).toEqual({ state: 'refused', problems: [used(3)] });
    expect(await wallet('USD')).toBe(0n);
  });
});

it('a thousand lines are one transaction', async () => {
  const lines = Array.from({ length: 1_000 }, (_, n) => `live,${merchantId}/player-${n},USD,${n + 1},`);
  expect(await post(fileOf(...lines))).toEqual(posted);
  expect(await expectMoneyInvariants(world.pool)).toMatchObject({ movements: 1_000, entries: 2_000 });
  const { rows } = await world.owner.query('select count(distinct xid)::int as transactions from ledger.movement');
  expect(rows).toEqual([{ transactions: 1 }]);
});

it('only the console asks for it, and only the worker posts', async () => {
  const file = fileOf(`live,${merchantId},USD,1,`);
  for (const role of ['worker', 'gateway', 'cabinet', 'relay'] as const) {
    const pool = createPool(world.database.urlFor(role), { max: 1, applicationName: 'test' });
    await expect(requestLedgerImport(queriesOf(pool), file, BY)).rejects.toMatchObject({
      sqlstate: '42501',
    });
    await pool.end();
  }
  const call = `select ledger.post('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`;
  await expect(console.query(call)).rejects.toMatchObject({ code: '42501' });
});
