import type { DepositAddressRecord } from '../contracts/deposit-address.js';
import type { DepositAddressState } from '../domain/deposit-address.js';
import type { Tx } from './transaction.js';

/** Everything of a deposit address, with its owner's name for his customer; alias `a`. */
export const DEPOSIT_ADDRESS_SELECT = `select a.id, a.book, a.merchant_id as "merchantId",
    a.customer_id as "customerId", c.ref as "customerRef", a.network, a.asset,
    a.settlement_mode as "settlementMode", a.settlement_asset as "settlementAsset", a.provider,
    a.provider_account as "providerAccount", a.provider_ref as "providerRef", a.address, a.tag,
    a.needs_operator as "needsOperator", a.state, a.version, a.reason,
    a.created_at as "createdAt", a.updated_at as "updatedAt"
  from sverka.deposit_address a left join sverka.customer c on c.id = a.customer_id`;

/** The merchant's own address of that id, in that book. */
export async function findDepositAddress(
  db: Tx,
  of: { id: string; book: string; merchantId: string },
): Promise<DepositAddressRecord | null> {
  const rows = await db.query<DepositAddressRecord>(
    `${DEPOSIT_ADDRESS_SELECT} where a.id = $1 and a.book = $2 and a.merchant_id = $3`,
    [of.id, of.book, of.merchantId],
  );
  return rows[0] ?? null;
}

/** The address of that id, whoever owns it: for the worker. */
export async function readDepositAddress(db: Tx, id: string): Promise<DepositAddressRecord> {
  const rows = await db.query<DepositAddressRecord>(`${DEPOSIT_ADDRESS_SELECT} where a.id = $1`, [id]);
  if (!rows[0]) throw new Error(`Deposit address ${id} does not exist, although its workflow does.`);
  return rows[0];
}

/** The live (not failed) address of that owner, network and asset: the natural name. */
export async function findLiveDepositAddress(
  db: Tx,
  of: { book: string; merchantId: string; customerId: string | null; network: string; asset: string },
): Promise<DepositAddressRecord | null> {
  const rows = await db.query<DepositAddressRecord>(
    `${DEPOSIT_ADDRESS_SELECT} where a.book = $1 and a.merchant_id = $2 and a.customer_id is not distinct from $3
       and a.network = $4 and a.asset = $5 and a.state <> 'failed'`,
    [of.book, of.merchantId, of.customerId, of.network, of.asset],
  );
  return rows[0] ?? null;
}

export interface NewDepositAddress {
  readonly id: string;
  readonly book: string;
  readonly merchantId: string;
  readonly customerId: string | null;
  readonly network: string;
  readonly asset: string;
  readonly settlementMode: string;
  readonly settlementAsset: string | null;
  readonly provider: string;
  readonly account: string;
  readonly actor: string;
  readonly traceId: string;
}

/** Inserts it as `preparing`; false when the natural name is taken meanwhile. */
export async function insertDepositAddress(tx: Tx, address: NewDepositAddress): Promise<boolean> {
  const rows = await tx.query(
    `insert into sverka.deposit_address (id, book, merchant_id, customer_id, network, asset, settlement_mode,
       settlement_asset, provider, provider_account, state, actor, trace_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'preparing', $11, $12)
     on conflict (book, merchant_id, customer_id, network, asset) where state <> 'failed' do nothing returning id`,
    [
      address.id,
      address.book,
      address.merchantId,
      address.customerId,
      address.network,
      address.asset,
      address.settlementMode,
      address.settlementAsset,
      address.provider,
      address.account,
      address.actor,
      address.traceId,
    ],
  );
  return rows.length === 1;
}

export interface DepositAddressMove {
  readonly from: readonly DepositAddressState[];
  readonly to: DepositAddressState;
  readonly reason: string | null;
  readonly actor: string;
  readonly traceId: string;
  readonly made?: { readonly providerRef: string; readonly address: string; readonly tag: string | null };
}

/** Compare-and-set; null when the address has left `from` meanwhile, which is no error. */
export async function moveDepositAddress(
  tx: Tx,
  id: string,
  move: DepositAddressMove,
): Promise<DepositAddressRecord | null> {
  const rows = await tx.query(
    `update sverka.deposit_address set state = $3, version = version + 1, reason = $4, actor = $5, trace_id = $6,
       provider_ref = coalesce($7, provider_ref), address = coalesce($8, address), tag = coalesce($9, tag),
       needs_operator = false
     where id = $1 and state = any ($2) returning id`,
    [
      id,
      move.from,
      move.to,
      move.reason,
      move.actor,
      move.traceId,
      move.made?.providerRef ?? null,
      move.made?.address ?? null,
      move.made?.tag ?? null,
    ],
  );
  return rows.length === 1 ? readDepositAddress(tx, id) : null;
}

/** Waiting addresses that nobody has touched for so long: their workflow may be lost. In no order, as deposits are. */
export async function strandedDepositAddresses(
  db: Tx,
  olderThanMs: number,
): Promise<{ id: string; requestId: string }[]> {
  return db.query(
    `select a.id, r.id as "requestId" from sverka.deposit_address a
       join sverka.request r on r.resource_id = a.id and r.made
      where a.state in ('preparing', 'unknown') and a.updated_at <= clock_timestamp() - $1 * interval '1 millisecond'
      order by random() limit 100`,
    [olderThanMs],
  );
}

/**
 * Holds these places until the transaction ends: who finds no address there and leaves a notification waiting for it,
 * and who makes the address and wakes what waits, come one after the other.
 */
export async function holdPlaces(tx: Tx, places: readonly string[]): Promise<void> {
  // In one order for all, so that nobody waits in a circle.
  const inOrder = [...new Set(places)].sort();
  await tx.query('select pg_advisory_xact_lock(hashtextextended(place, 0)) from unnest($1::text[]) place', [inOrder]);
}

/** Notes that somebody has just looked; the sweep leaves it alone for a while. */
export async function touchDepositAddress(db: Tx, id: string, needsOperator: boolean): Promise<void> {
  await db.query('update sverka.deposit_address set needs_operator = $2 where id = $1', [id, needsOperator]);
}

/** The customer of that ref; made from the first address that names him. */
export async function ensureCustomer(
  tx: Tx,
  of: { id: string; book: string; merchantId: string; ref: string },
): Promise<string> {
  await tx.query(
    `insert into sverka.customer (id, book, merchant_id, ref) values ($1, $2, $3, $4) on conflict do nothing`,
    [of.id, of.book, of.merchantId, of.ref],
  );
  const rows = await tx.query<{ id: string }>(
    'select id from sverka.customer where book = $1 and merchant_id = $2 and ref = $3',
    [of.book, of.merchantId, of.ref],
  );
  if (!rows[0]) throw new Error('A customer just inserted is not there; this needs READ COMMITTED.');
  return rows[0].id;
}
