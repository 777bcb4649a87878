import type { IssuanceRecord } from '../contracts/card.js';
import type { Book } from '../domain/books.js';
import type { IssuanceState } from '../domain/issuance.js';
import { hashSeen } from './decisions.js';
import type { Tx } from './transaction.js';

/** Everything of an issuance; alias `i`. */
export const ISSUANCE_COLUMNS = `i.id, i.book, i.merchant_id as "merchantId", i.card_id as "cardId", i.generation,
    not exists (select from sverka.issuance n where n.card_id = i.card_id and n.generation > i.generation) as latest,
    i.cardholder_id as "cardholderId", i.cardholder_revision as "cardholderRevision", i.product, i.asset,
    i.load_amount::text as "loadText", i.fee_amount::text as "feeText", i.provider,
    i.provider_account as "providerAccount", i.provider_ref as "providerRef", i.provider_status as "providerStatus",
    i.decline_reason as "declineReason", i.movement_ids as "movementIds", i.flag, i.contradiction,
    i.accepted_contradiction as "acceptedContradiction", i.needs_operator as "needsOperator",
    i.applied_ticket as "appliedTicket", i.submitted_by as "submittedBy", i.submitted_at as "submittedAt",
    i.workflow_id as "workflowId", i.settled_at as "settledAt", i.last_read_at as "lastReadAt", i.looks, i.state,
    i.version, i.reason, i.created_at as "createdAt", i.updated_at as "updatedAt"`;

/** A row of ISSUANCE_COLUMNS: amounts are still text, for the driver has no whole numeric. */
export type IssuanceRow = Omit<IssuanceRecord, 'loadAmount' | 'feeAmount'> & { loadText: string; feeText: string };

export function toIssuanceRecord({ loadText, feeText, ...row }: IssuanceRow): IssuanceRecord {
  return { ...row, loadAmount: BigInt(loadText), feeAmount: BigInt(feeText) };
}

const MOMENTS = ['createdAt', 'updatedAt', 'submittedAt', 'settledAt', 'lastReadAt'] as const;
type Moment = (typeof MOMENTS)[number];

/** The same row inside another's, as JSON has it. */
export type IssuanceJson = Omit<IssuanceRow, Moment | 'appliedTicket'> &
  Record<Moment, string | null> & { appliedTicket: number };

export function fromIssuanceJson({ appliedTicket, ...row }: IssuanceJson): IssuanceRecord {
  const moments = MOMENTS.map((name) => [name, row[name] === null ? null : new Date(row[name])]);
  return toIssuanceRecord({ ...row, appliedTicket: BigInt(appliedTicket), ...Object.fromEntries(moments) });
}

/** The issuance of that id, whoever owns it: for the worker and for people of ours. */
export async function findIssuance(db: Tx, id: string): Promise<IssuanceRecord | null> {
  return first(await db.query(`select ${ISSUANCE_COLUMNS} from sverka.issuance i where i.id = $1`, [id]));
}

/** The same; throws when it is not there, which is a bug. */
export async function readIssuance(db: Tx, id: string): Promise<IssuanceRecord> {
  return requireIssuance(id, await findIssuance(db, id));
}

/** The same, with a ticket for a call that begins after it (`read-tickets.ts`). */
export async function readIssuanceForCall(db: Tx, id: string): Promise<{ record: IssuanceRecord; ticket: bigint }> {
  const [row] = await db.query<IssuanceRow & { ticket: bigint }>(
    `select ${ISSUANCE_COLUMNS}, nextval('sverka.read_ticket') as ticket from sverka.issuance i where i.id = $1`,
    [id],
  );
  if (!row) return { record: requireIssuance(id, null), ticket: 0n };
  const { ticket, ...issuance } = row;
  return { record: toIssuanceRecord(issuance), ticket };
}

/**
 * The issuance that a notification names: by our id, which is the issuer's reference, or by the issuer's id of the
 * card. Null when neither is ours at that account.
 */
export async function findIssuanceOf(
  db: Tx,
  of: { book: string; provider: string; account: string; ref: string },
): Promise<IssuanceRecord | null> {
  return first(
    await db.query(
      `select ${ISSUANCE_COLUMNS} from sverka.issuance i
        where i.book = $1 and i.provider = $2 and i.provider_account = $3 and (i.id = $4 or i.provider_ref = $4)
        order by i.id desc limit 1`,
      [of.book, of.provider, of.account, of.ref],
    ),
  );
}

/** The newest issuance of a card. */
export async function latestIssuance(db: Tx, cardId: string): Promise<IssuanceRecord | null> {
  return first(
    await db.query(
      `select ${ISSUANCE_COLUMNS} from sverka.issuance i where i.card_id = $1 order by i.generation desc limit 1`,
      [cardId],
    ),
  );
}

/** Locks the card, then the issuance, in id order, and reads the issuance as it is then. */
export async function lockIssuance(tx: Tx, id: string): Promise<IssuanceRecord> {
  await tx.query(
    `select from sverka.card c join sverka.issuance i on i.card_id = c.id where i.id = $1 for no key update of c`,
    [id],
  );
  const sql = `select ${ISSUANCE_COLUMNS} from sverka.issuance i where i.id = $1 for no key update of i`;
  return requireIssuance(id, first(await tx.query(sql, [id])));
}

export interface NewIssuance {
  readonly id: string;
  readonly cardId: string;
  readonly generation: number;
  readonly book: Book;
  readonly merchantId: string;
  readonly cardholderId: string;
  readonly cardholderRevision: number;
  readonly product: string;
  readonly asset: string;
  readonly loadAmount: bigint;
  readonly feeAmount: bigint;
  readonly provider: string;
  readonly account: string;
  readonly movementId: string | null;
  readonly workflowId: string;
  readonly actor: string;
  readonly traceId: string;
}

/** Inserts it as `reserved`. */
export async function insertIssuance(tx: Tx, issuance: NewIssuance): Promise<void> {
  await tx.query(
    `insert into sverka.issuance (id, card_id, generation, book, merchant_id, cardholder_id, cardholder_revision,
       product, asset, load_amount, fee_amount, provider, provider_account, movement_ids, workflow_id, actor, trace_id,
       state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       case when $14::text is null then '{}' else array[$14] end, $15, $16, $17, 'reserved')`,
    [
      issuance.id,
      issuance.cardId,
      issuance.generation,
      issuance.book,
      issuance.merchantId,
      issuance.cardholderId,
      issuance.cardholderRevision,
      issuance.product,
      issuance.asset,
      issuance.loadAmount.toString(),
      issuance.feeAmount.toString(),
      issuance.provider,
      issuance.account,
      issuance.movementId,
      issuance.workflowId,
      issuance.actor,
      issuance.traceId,
    ],
  );
}

export interface IssuanceMove {
  readonly to: IssuanceState;
  readonly reason: string | null;
  readonly actor: string;
  readonly traceId: string;
  /** `mov_…` of what this move posts. */
  readonly movementId?: string | null;
  /** Of a move to `submitted`: the run that may send the create. */
  readonly submittedBy?: string;
  /** Of a move to `active`: the card at the issuer that settles it. */
  readonly providerRef?: string;
}

/** One move under the lock, by version; its audit row comes by trigger. */
export async function moveIssuance(tx: Tx, record: IssuanceRecord, move: IssuanceMove): Promise<IssuanceRecord> {
  const rows = await tx.query(
    `update sverka.issuance i set state = $3, version = version + 1, reason = $4, actor = $5, trace_id = $6,
       movement_ids = case when $7::text is null then movement_ids else movement_ids || $7 end,
       submitted_by = coalesce($8, submitted_by),
       submitted_at = case $3 when 'submitted' then clock_timestamp() else submitted_at end,
       settled_at = case $3 when 'active' then clock_timestamp() else settled_at end,
       failed_at = case $3 when 'failed' then clock_timestamp() else failed_at end,
       provider_ref = coalesce($9, provider_ref),
       needs_operator = case when $3 in ('active', 'failed') then false else needs_operator end
     where i.id = $1 and i.version = $2 returning ${ISSUANCE_COLUMNS}`,
    [
      record.id,
      record.version,
      move.to,
      move.reason,
      move.actor,
      move.traceId,
      move.movementId ?? null,
      move.submittedBy ?? null,
      move.providerRef ?? null,
    ],
  );
  const moved = first(rows);
  if (!moved) throw new Error(`Issuance ${record.id} changed under its own lock.`);
  return moved;
}

/** Another run may send the create from now on; state and version stay. */
export async function passOn(tx: Tx, record: IssuanceRecord, runId: string): Promise<IssuanceRecord> {
  await tx.query('update sverka.issuance set submitted_by = $2 where id = $1', [record.id, runId]);
  return { ...record, submittedBy: runId };
}

/** What is kept of a read, moved or not. */
export interface IssuanceNote {
  readonly providerRef: string | null;
  readonly providerStatus: string | null;
  readonly declineReason: string | null;
  readonly flag: string | null;
  readonly contradiction: string | null;
  readonly acceptedContradiction: string | null;
  readonly needsOperator: boolean;
}

/** What the read says, with a fresh ticket, so that an older answer no longer counts. */
export async function noteIssuance(tx: Tx, id: string, note: IssuanceNote): Promise<IssuanceRecord> {
  const rows = await tx.query(
    `update sverka.issuance i set provider_ref = $2, provider_status = $3, decline_reason = $4, flag = $5,
       contradiction = $6, accepted_contradiction = $7, needs_operator = $8, last_read_at = clock_timestamp(),
       looks = looks + 1, applied_ticket = nextval('sverka.read_ticket') where i.id = $1 returning ${ISSUANCE_COLUMNS}`,
    [
      id,
      note.providerRef,
      note.providerStatus,
      note.declineReason,
      note.flag,
      note.contradiction,
      note.acceptedContradiction,
      note.needsOperator,
    ],
  );
  return requireIssuance(id, first(rows));
}

/** What the issuer says of a card was learned otherwise: a read of its issuance that began before counts no more. */
export async function outdateReads(tx: Tx, cardId: string): Promise<void> {
  await tx.query(
    `update sverka.issuance set applied_ticket = nextval('sverka.read_ticket') where card_id = $1 and state = 'active'`,
    [cardId],
  );
}

/** Notes that somebody has just tried or looked; the sweep leaves it alone for a while. */
export async function touchIssuance(db: Tx, id: string, needsOperator: boolean): Promise<{ book: Book }> {
  const [row] = await db.query<{ book: Book }>(
    'update sverka.issuance set needs_operator = $2 where id = $1 returning book',
    [id, needsOperator],
  );
  if (!row) throw new Error(`Issuance ${id} does not exist, although its workflow does.`);
  return row;
}

/** States that wait for somebody to ask. */
const WAITING = "i.state in ('reserved', 'submitted', 'pending', 'unknown')";

/**
 * Issuances whose workflow may be lost: nobody has touched them for so long, or a person's decision made them and no
 * run follows them yet. In no order, so that those which cannot go on never stand before the others.
 */
export async function strandedIssuances(db: Tx, olderThanMs: number): Promise<{ id: string; requestId: string }[]> {
  return db.query(
    `select i.id, r.id as "requestId" from sverka.issuance i join sverka.request r on r.resource_id = i.card_id and r.made
     where ${WAITING} and r.resource_type = 'card'
       and (i.updated_at <= clock_timestamp() - $1 * interval '1 millisecond'
         or i.state = 'reserved' and i.generation > 0)
     order by random() limit 100`,
    [olderThanMs],
  );
}

/**
 * The next issuances to be asked about at one account, in id order: those that wait for the issuer; once, those that
 * are settled, for a second card may stand beside; and for a while those given up, for a card may turn up late.
 */
export async function issuancesToRead(
  db: Tx,
  of: { book: string; provider: string; account: string; after: string | null; limit: number; lateMs: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select i.id from sverka.issuance i
     where i.book = $1 and i.provider = $2 and i.provider_account = $3 and i.id > coalesce($4, '')
       and (i.state in ('submitted', 'pending', 'unknown')
         or i.state = 'active' and i.last_read_at <= i.settled_at
         or i.state = 'failed' and i.submitted_at is not null and i.reason in ('declared_failed', 'issued_again')
           and i.failed_at > clock_timestamp() - $6 * interval '1 millisecond')
     order by i.id limit $5`,
    [of.book, of.provider, of.account, of.after, of.limit, of.lateMs],
  );
  return rows.map(({ id }) => id);
}

/**
 * True when that card at the issuer is another issuance's: it settles one, or was made under the reference of one for
 * another card, which may still wait for it.
 */
export async function isTaken(
  tx: Tx,
  record: IssuanceRecord,
  card: { readonly providerRef: string; readonly reference: string },
): Promise<boolean> {
  const rows = await tx.query(
    `select from sverka.issuance i where i.id <> $5
       and (i.book = $1 and i.provider = $2 and i.provider_account = $3 and i.provider_ref = $4 and i.state = 'active'
         or i.id = $6 and i.card_id <> $7)`,
    [record.book, record.provider, record.providerAccount, card.providerRef, record.id, card.reference, record.cardId],
  );
  return rows.length > 0;
}

/** What a person is shown of an issuance before deciding on it, and the decision is bound to. */
export function hashSeenIssuance(record: IssuanceRecord): Buffer {
  return hashSeen([
    ...[record.id, record.version, record.state, record.reason, record.generation],
    ...[record.flag, record.contradiction, record.acceptedContradiction],
    ...[record.providerRef, record.providerStatus, record.declineReason],
    ...[record.cardholderId, record.product, record.asset, record.loadAmount, record.feeAmount],
  ]);
}

function first(rows: readonly object[]): IssuanceRecord | null {
  const row = rows[0] as IssuanceRow | undefined;
  return row ? toIssuanceRecord(row) : null;
}

function requireIssuance(id: string, record: IssuanceRecord | null): IssuanceRecord {
  if (!record) throw new Error(`Issuance ${id} does not exist, although its workflow does.`);
  return record;
}
