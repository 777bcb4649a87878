import type pg from 'pg';
import { newId } from '../../src/db/new-id.js';
import { openAddresses } from './addresses.js';
import { CUSTODY } from './settings.js';

const CONFIRMING = 4_000;
const PARKED = 2_000;
const REQUESTED = 2_000;
const ALERTS = 2_000;
/** All that waits, for a person or by itself. */
export const OPEN_ITEMS = CONFIRMING + PARKED + REQUESTED + ALERTS;

/** `final` deposits that are over, and OPEN_ITEMS beside them, as rows alone: no workflow follows them. */
export async function writeSubjects(owner: pg.Pool, final: number): Promise<void> {
  const [address] = await openAddresses(owner, 1);
  if (!address) throw new Error('There is no address.');
  const tables = ['sverka.deposit', 'sverka.withdrawal'];
  for (const table of tables) await owner.query(`alter table ${table} disable trigger all`);
  await writeDeposits(owner, address.merchantId, { state: 'final', count: final });
  await writeDeposits(owner, address.merchantId, { state: 'confirming', count: CONFIRMING });
  await writeDeposits(owner, address.merchantId, { state: 'parked', count: PARKED });
  await writeWithdrawals(owner, address.merchantId);
  for (const table of tables) await owner.query(`alter table ${table} enable trigger all`);
  await owner.query(
    `insert into sverka.alert (key, kind, book, detail)
     select 'bench:' || n, 'kind_' || n % 12, 'live', 'An alert of a benchmark.' from generate_series(1, $1::int) n`,
    [ALERTS],
  );
  await owner.query('vacuum (analyze) sverka.deposit, sverka.withdrawal, sverka.alert');
}

async function writeDeposits(
  owner: pg.Pool,
  merchantId: string,
  { state, count }: { state: string; count: number },
): Promise<void> {
  const credited = state === 'final' ? `1000000, 'USDT-TRC20', true` : 'null, null, false';
  await owner.query(
    `insert into sverka.deposit (id, book, merchant_id, deposit_address_id, network, provider, provider_account,
       provider_ref, provider_status, tx_hash, output_index, reported_text, reported_amount, reported_asset,
       settlement_mode, credited_amount, credited_asset, spendable, last_read_at, state, actor)
     select sverka.new_id('dep'), 'live', a.merchant_id, a.id, 'tron', a.provider, a.provider_account,
       $2 || '-' || n, $2, encode(sha256(($2 || n)::bytea), 'hex'), 0, '1', 1, 'USDT-TRC20', 'as_token', ${credited},
       clock_timestamp(), $2, 'bench'
     from sverka.deposit_address a, generate_series(1, $3::int) n where a.merchant_id = $1`,
    [merchantId, state, count],
  );
}

async function writeWithdrawals(owner: pg.Pool, merchantId: string): Promise<void> {
  const [user, destination] = [newId('user'), newId('withdrawalDestination')];
  await owner.query(`select sverka.create_user($1, 'bench-asks', $2, '{requester}')`, [user, merchantId]);
  await owner.query(
    `insert into sverka.withdrawal_destination (id, book, merchant_id, label, network, address, added_by, usable_from)
     values ($1, 'live', $2, 'Ours', 'tron', 'TBench', $3, clock_timestamp())`,
    [destination, merchantId, user],
  );
  await owner.query(
    `insert into sverka.withdrawal (id, book, merchant_id, request_key, asset, amount, fee_amount, network,
       destination_id, address, requested_by, expires_at, movement_ids, state, actor)
     select sverka.new_id('wd'), $5, $1, 'bench-request-' || lpad(n::text, 8, '0'), 'USDT-TRC20', 1000000, 0, 'tron', $2, 'TBench', $3,
       clock_timestamp() + interval '1 day', '{mov_00000000000000000000000000}', 'requested', 'bench'
     from generate_series(1, $4::int) n`,
    [merchantId, destination, user, REQUESTED, CUSTODY.book],
  );
}
