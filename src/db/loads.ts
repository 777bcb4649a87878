import type { LoadRecord } from '../contracts/load.js';
import type { Book } from '../domain/books.js';
import type { LoadState } from '../domain/load.js';
import { listQuery, type Scope, type Wanted } from './lists.js';
import type { Tx } from './transaction.js';

/** Everything of a load; alias `l`. */
const LOAD_SELECT = `select l.id, l.book, l.merchant_id as "merchantId", l.card_id as "cardId", l.asset,
    l.amount::text as "amountText", l.provider, l.provider_account as "providerAccount",
    l.workflow_id as "workflowId", l.decline_reason as "declineReason", l.movement_ids as "movementIds",
    l.needs_operator as "needsOperator", l.applied_ticket as "appliedTicket", l.submitted_by as "submittedBy",
    l.submitted_at as "submittedAt", l.settled_at as "settledAt", l.state, l.version, l.reason,
    l.created_at as "createdAt", l.updated_at as "updatedAt"
  from sverka.card_load l`;

/** The driver has no whole numeric: the amount is still text. */
type LoadRow = Omit<LoadRecord, 'amount'> & { amountText: string };

/** The merchant's own load of that id, in that book. */
export async function findLoad(db: Tx, of: Scope & { id: string }): Promise<LoadRecord | null> {
  const params = [of.id, of.book, of.merchantId];
  const rows = await db.query<LoadRow>(`${LOAD_SELECT} where l.id = $1 and l.book = $2 and l.merchant_id = $3`, params);
  return rows[0] ? toRecord(rows[0]) : null;
}

/** The load of that id, whoever owns it: for the worker. */
export async function readLoad(db: Tx, id: string): Promise<LoadRecord> {
  const [row] = await db.query<LoadRow>(`${LOAD_SELECT} where l.id = $1`, [id]);
  if (!row) throw new Error(`Load ${id} does not exist, although its workflow does.`);
  return toRecord(row);
}

export async function listLoads(db: Tx, of: Scope, wanted: Wanted): Promise<LoadRecord[]> {
  const { sql, params } = listQuery({ select: LOAD_SELECT, table: 'sverka.card_load', alias: 'l' }, of, wanted);
  return (await db.query<LoadRow>(sql, params)).map(toRecord);
}

/** Locks the card, then the load, and reads the load as it is then. */
export async function lockLoad(tx: Tx, id: string): Promise<LoadRecord> {
  await tx.query(
    'select from sverka.card c join sverka.card_load l on l.card_id = c.id where l.id = $1 for no key update of c',
    [id],
  );
  await tx.query('select from sverka.card_load where id = $1 for no key update', [id]);
  return readLoad(tx, id);
}

export interface NewLoad {
  readonly id: string;
  readonly book: Book;
  readonly merchantId: string;
  readonly cardId: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly provider: string;
  readonly providerAccount: string;
  readonly movementId: string;
  readonly workflowId: string;
  readonly actor: string;
  readonly traceId: string;
}

/** Inserts it as `reserved`; the caller holds the lock of its card, which is active. */
export async function insertLoad(tx: Tx, load: NewLoad): Promise<void> {
  await tx.query(
    `insert into sverka.card_load (id, book, merchant_id, card_id, asset, amount, provider, provider_account,
       movement_ids, workflow_id, actor, trace_id, state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, array[$9], $10, $11, $12, 'reserved')`,
    [
      load.id,
      load.book,
      load.merchantId,
      load.cardId,
      load.asset,
      load.amount.toString(),
      load.provider,
      load.providerAccount,
      load.movementId,
      load.workflowId,
      load.actor,
      load.traceId,
    ],
  );
}

export interface LoadMove {
  readonly to: LoadState;
  readonly reason: string | null;
  readonly actor: string;
  readonly traceId: string;
  /** `mov_…` of what this move posts. */
  readonly movementId?: string;
  /** Of a move to `submitted`: the run that sends the create. */
  readonly submittedBy?: string;
  readonly declineReason?: string | null;
  readonly needsOperator?: boolean;
}

/** One move under the lock, by version, with a fresh ticket; its audit row comes by trigger. */
export async function moveLoad(tx: Tx, record: LoadRecord, move: LoadMove): Promise<LoadRecord> {
  const rows = await tx.query(
    `update sverka.card_load set state = $3, version = version + 1, reason = $4, actor = $5, trace_id = $6,
       movement_ids = case when $7::text is null then movement_ids else movement_ids || $7 end,
       submitted_by = coalesce($8, submitted_by), decline_reason = coalesce($9, decline_reason), needs_operator = $10,
       submitted_at = case $3 when 'submitted' then clock_timestamp() else submitted_at end,
       settled_at = case $3 when 'completed' then clock_timestamp() else settled_at end,
       applied_ticket = nextval('sverka.read_ticket')
     where id = $1 and version = $2 returning id`,
    [
      record.id,
      record.version,
      move.to,
      move.reason,
      move.actor,
      move.traceId,
      move.movementId ?? null,
      move.submittedBy ?? null,
      move.declineReason ?? null,
      move.needsOperator ?? false,
    ],
  );
  if (rows.length === 0) throw new Error(`Load ${record.id} changed under its own lock.`);
  return readLoad(tx, record.id);
}

/** Notes that somebody has just tried; the sweep leaves it alone for a while. */
export async function touchLoad(db: Tx, id: string, needsOperator: boolean): Promise<void> {
  await db.query('update sverka.card_load set needs_operator = $2 where id = $1', [id, needsOperator]);
}

/** Loads whose workflow may be lost: nobody has touched them for so long. In no order, so that none bars the others. */
export async function strandedLoads(db: Tx, olderThanMs: number): Promise<{ id: string; requestId: string }[]> {
  return db.query(
    `select l.id, r.id as "requestId" from sverka.card_load l join sverka.request r on r.resource_id = l.id and r.made
     where l.state in ('reserved', 'submitted', 'unknown')
       and l.updated_at <= clock_timestamp() - $1 * interval '1 millisecond'
     order by random() limit 100`,
    [olderThanMs],
  );
}

function toRecord({ amountText, ...row }: LoadRow): LoadRecord {
  return { ...row, amount: BigInt(amountText) };
}
