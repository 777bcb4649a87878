import type { DepositRecord } from '../contracts/deposit.js';
import type { Book } from '../domain/books.js';
import { type DepositReading, type DepositState, type DepositTerms, plainHash } from '../domain/deposit.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

const COLUMNS = `select d.id, d.book, d.merchant_id as "merchantId", d.customer_id as "customerId",
    c.ref as "customerRef", d.deposit_address_id as "depositAddressId", d.kind, d.network, d.provider,
    d.provider_account as "providerAccount", d.provider_ref as "providerRef", d.provider_status as "providerStatus",
    d.tx_hash as "txHash", d.output_index as "outputIndex", d.block_number::text as "blockNumber",
    d.block_hash as "blockHash", d.reported_text as "reportedText", d.reported_asset as "reportedAsset",
    d.settlement_mode as "settlementMode", d.settlement_asset as "settlementAsset", d.generation,
    d.credited_amount as "creditedText", d.credited_asset as "creditedAsset", d.spendable,
    d.movement_ids as "movementIds", d.flag, d.contradiction, d.accepted_contradiction as "acceptedContradiction",
    d.applied_ticket as "appliedTicket", d.last_read_at as "lastReadAt", d.credited_at as "creditedAt",
    d.final_at as "finalAt", d.state, d.version, d.reason, d.created_at as "createdAt", d.updated_at as "updatedAt"`;

/** Everything of a deposit, with its owner's name for his customer; alias `d`. */
const DEPOSIT_SELECT = `${COLUMNS}
  from sverka.deposit d left join sverka.customer c on c.id = d.customer_id`;

/** What lists of deposits read from. */
export const DEPOSIT_LIST = { select: DEPOSIT_SELECT, table: 'sverka.deposit', alias: 'd' } as const;

/** A row of DEPOSIT_SELECT: the credited amount is still text, for the driver has no whole numeric. */
export type DepositRow = Omit<DepositRecord, 'creditedAmount'> & { creditedText: string | null };

export function toDepositRecord({ creditedText, ...row }: DepositRow): DepositRecord {
  return { ...row, creditedAmount: creditedText === null ? null : BigInt(creditedText) };
}

/** The merchant's own deposit of that id, in that book. */
export async function findDeposit(
  db: Tx,
  of: { id: string; book: string; merchantId: string },
): Promise<DepositRecord | null> {
  const rows = await db.query<DepositRow>(`${DEPOSIT_SELECT} where d.id = $1 and d.book = $2 and d.merchant_id = $3`, [
    of.id,
    of.book,
    of.merchantId,
  ]);
  return rows[0] ? toDepositRecord(rows[0]) : null;
}

/** The deposit of that id, whoever owns it: for the worker and for people of ours. */
export async function readDeposit(db: Tx, id: string): Promise<DepositRecord | null> {
  const rows = await db.query<DepositRow>(`${DEPOSIT_SELECT} where d.id = $1`, [id]);
  return rows[0] ? toDepositRecord(rows[0]) : null;
}

/** One account at one custodian: whose readings are applied together. */
export interface DepositSource {
  readonly book: Book;
  readonly provider: string;
  readonly account: string;
}

/** The address that a reading names, and what it fixed at birth: the owner always comes from here. */
export interface AddressOfDeposit extends DepositTerms {
  readonly id: string;
  readonly merchantId: string;
  readonly customerId: string | null;
  readonly address: string;
  readonly tag: string | null;
}

const ADDRESS_TERMS = `select a.id, a.merchant_id as "merchantId", a.customer_id as "customerId", a.address, a.tag, a.network, a.asset,
       a.settlement_mode as "settlementMode", a.settlement_asset as "settlementAsset"
     from sverka.deposit_address a`;

export async function findAddresses(
  tx: Tx,
  source: DepositSource,
  places: readonly { address: string; tag: string | null }[],
): Promise<AddressOfDeposit[]> {
  return tx.query<AddressOfDeposit>(
    `${ADDRESS_TERMS}
     where a.book = $1 and a.provider = $2 and a.provider_account = $3 and a.address = any ($4)`,
    [source.book, source.provider, source.account, places.map((place) => place.address)],
  );
}

/** The addresses of these ids: a deposit's own, whatever its record names now. */
export async function readAddressTerms(tx: Tx, ids: readonly string[]): Promise<AddressOfDeposit[]> {
  return tx.query<AddressOfDeposit>(`${ADDRESS_TERMS} where a.id = any ($1)`, [ids]);
}

/** A reading together with the custodian's id of the deposit and the address that it belongs to. */
export interface FoundDeposit {
  readonly ref: string;
  readonly providerStatus: string;
  readonly reading: DepositReading;
  /** Where the record says it arrived. */
  readonly place: { readonly address: string; readonly tag: string | null };
  /** The address it belongs to: of a known deposit its own, whatever the record names now. */
  readonly at: AddressOfDeposit;
  /** The record names another place than that. */
  readonly elsewhere: boolean;
}

interface Who {
  readonly actor: string;
  readonly traceId: string;
}

/** Inserts those that are new, as `noticed`, in key order; answers the refs of the inserted. */
export async function insertNoticed(
  tx: Tx,
  source: DepositSource,
  batch: { found: readonly FoundDeposit[] } & Who,
): Promise<string[]> {
  const found = [...batch.found].sort((a, b) => (a.ref < b.ref ? -1 : 1));
  if (found.length === 0) return [];
  const rows = await tx.query<{ ref: string }>(
    `insert into sverka.deposit (id, book, provider, provider_account, actor, trace_id, merchant_id, customer_id,
       deposit_address_id, provider_ref, provider_status, network, tx_hash, output_index, reported_text,
       reported_amount, reported_asset, settlement_mode, settlement_asset, last_read_at, state)
     select r.id, $1, $2, $3, $4, $5, r.merchant_id, r.customer_id, r.address_id, r.ref, r.status, r.network,
       r.tx_hash, r.output_index, r.amount, trunc(r.amount::numeric, 18), r.asset, r.mode, r.settlement_asset,
       clock_timestamp(), 'noticed'
     from jsonb_to_recordset($6) as r(id text, merchant_id text, customer_id text, address_id text, ref text,
       status text, network text, tx_hash text, output_index int, amount text, asset text, mode text,
       settlement_asset text)
     order by r.ref
     on conflict (book, provider, provider_account, provider_ref) do nothing
     returning provider_ref as ref`,
    [
      source.book,
      source.provider,
      source.account,
      batch.actor,
      batch.traceId,
      JSON.stringify(found.map((item) => ({ id: newId('deposit'), ...toRow(item) }))),
    ],
  );
  return rows.map((row) => row.ref);
}

/** Locks the deposits of these refs, in id order, and reads them as they are then. */
export async function lockDeposits(tx: Tx, source: DepositSource, refs: readonly string[]): Promise<DepositRecord[]> {
  const rows = await tx.query<DepositRow>(
    `${DEPOSIT_SELECT} where d.book = $1 and d.provider = $2 and d.provider_account = $3 and d.provider_ref = any ($4)
     order by d.id for no key update of d`,
    [source.book, source.provider, source.account, refs],
  );
  return rows.map(toDepositRecord);
}

/** What is kept of a read, moved or not. */
export interface DepositNote {
  readonly id: string;
  readonly providerStatus: string;
  readonly network: string;
  readonly txHash: string | null;
  readonly outputIndex: number | null;
  readonly reportedText: string;
  readonly reportedAsset: string;
  readonly flag: string | null;
  readonly contradiction: string | null;
  readonly acceptedContradiction: string | null;
}

/**
 * What the read says of each, with a fresh ticket, so that an older answer no longer counts. Digits past the column's
 * are cut, not rounded: rounding could carry a digit too many. Answers the deposits as they are then.
 */
export async function noteReadings(tx: Tx, readings: readonly DepositNote[]): Promise<DepositRecord[]> {
  if (readings.length === 0) return [];
  const rows = await tx.query<DepositRow>(
    `with d as (
       update sverka.deposit d set provider_status = r."providerStatus", network = r.network, tx_hash = r."txHash",
         output_index = r."outputIndex", reported_text = r."reportedText", reported_asset = r."reportedAsset",
         reported_amount = trunc(r."reportedText"::numeric, 18), flag = r.flag, contradiction = r.contradiction,
         accepted_contradiction = r."acceptedContradiction", last_read_at = clock_timestamp(),
         applied_ticket = nextval('sverka.read_ticket')
       from jsonb_to_recordset($1) as r(id text, "providerStatus" text, network text, "txHash" text, "outputIndex" int,
         "reportedText" text, "reportedAsset" text, flag text, contradiction text, "acceptedContradiction" text)
       where d.id = r.id returning d.*)
     ${COLUMNS} from d left join sverka.customer c on c.id = d.customer_id`,
    [JSON.stringify(readings)],
  );
  return rows.map(toDepositRecord);
}

/** One step of the walk of several deposits: compare-and-set by version, each with its audit row (by trigger). */
export interface DepositStep {
  readonly id: string;
  readonly version: number;
  readonly to: DepositState;
  readonly reason: string | null;
  readonly generation: number;
  readonly credit: { readonly amount: bigint; readonly asset: string } | null;
  /** `mov_…` of what this step posts. */
  readonly movementId: string | null;
  readonly actor: string;
}

/** Makes the step and answers the deposits as they are after it; fewer than asked for when a version has moved on. */
export async function stepDeposits(tx: Tx, steps: readonly DepositStep[], traceId: string): Promise<DepositRecord[]> {
  const rows = await tx.query<DepositRow>(
    `with d as (
       update sverka.deposit d set state = r.state, version = d.version + 1, reason = r.reason, actor = r.actor,
         trace_id = $2, generation = r.generation,
         credited_amount = coalesce(r.amount::numeric, case r.generation when d.generation then d.credited_amount end),
         credited_asset = coalesce(r.asset, case r.generation when d.generation then d.credited_asset end),
         movement_ids = case when r.movement_id is null then d.movement_ids else d.movement_ids || r.movement_id end,
         spendable = r.state in ('credited', 'final'),
         credited_at = case r.state when 'credited' then clock_timestamp() else d.credited_at end,
         final_at = case r.state when 'final' then clock_timestamp() else d.final_at end
       from jsonb_to_recordset($1) as r(id text, version int, state text, reason text, generation int, amount text,
         asset text, movement_id text, actor text)
       where d.id = r.id and d.version = r.version
       returning d.*)
     ${COLUMNS} from d left join sverka.customer c on c.id = d.customer_id`,
    [JSON.stringify(steps.map(toStepRow)), traceId],
  );
  return rows.map(toDepositRecord);
}

function toStepRow({ credit, to, movementId, ...step }: DepositStep) {
  return {
    ...step,
    state: to,
    amount: credit?.amount.toString() ?? null,
    asset: credit?.asset ?? null,
    movement_id: movementId,
  };
}

/** What was booked of an output before. */
export interface BookedOutput {
  readonly id: string;
  readonly state: DepositState;
  readonly generation: number;
  readonly network: string;
  readonly txHash: string;
  readonly outputIndex: number;
  readonly amount: string;
  readonly addressId: string;
}

/** Deposits of which something was booked for these outputs, whatever ids the custodian gives them (R10). */
export async function bookedOutputs(
  tx: Tx,
  source: DepositSource,
  outputs: readonly { txHash: string; outputIndex: number }[],
): Promise<BookedOutput[]> {
  return tx.query(
    // Hash by hash: before the table's first statistics one condition over all of them would read all its deposits.
    `select d.* from unnest($4::text[]) as wanted(hash) cross join lateral (
       select d.id, d.state, d.generation, d.network, d.tx_hash as "txHash", d.output_index as "outputIndex",
         d.reported_text as amount, d.deposit_address_id as "addressId"
       from sverka.deposit d
       where d.book = $1 and d.provider = $2 and d.provider_account = $3 and d.movement_ids <> '{}'
         and sverka.plain_hash(d.tx_hash) = wanted.hash offset 0) d`,
    [source.book, source.provider, source.account, [...new Set(outputs.map(({ txHash }) => plainHash(txHash)))]],
  );
}

/**
 * Waiting deposits that nobody has read for so long: their workflow may be lost. In no order, so that those which
 * cannot be read never stand before the others; not those whose dead letter waits for a person (R11).
 */
export async function strandedDeposits(
  db: Tx,
  olderThanMs: number,
): Promise<{ book: Book; provider: string; account: string; ref: string }[]> {
  return db.query(
    `select d.book, d.provider, d.provider_account as account, d.provider_ref as ref from sverka.deposit d
     where d.state in ('noticed', 'confirming') and d.last_read_at <= clock_timestamp() - $1 * interval '1 millisecond'
       and not exists (select from sverka.dead_letter l join sverka.inbox i on i.id = l.inbox_id
         where l.closed_at is null and i.subject_type = 'deposit' and i.subject_ref = d.provider_ref
           and i.provider = d.provider and i.endpoint = d.provider_account)
     order by random() limit 100`,
    [olderThanMs],
  );
}

function toRow({ ref, providerStatus, reading, at }: FoundDeposit) {
  return {
    ref,
    status: providerStatus,
    network: reading.network,
    asset: reading.asset,
    tx_hash: reading.txHash,
    output_index: reading.outputIndex,
    amount: reading.amount,
    merchant_id: at.merchantId,
    customer_id: at.customerId,
    address_id: at.id,
    mode: at.settlementMode,
    settlement_asset: at.settlementAsset,
  };
}
