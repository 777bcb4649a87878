import type { CardResource } from '../contracts/card.js';
import type { RequestInput } from '../contracts/messages.js';
import type { Book } from '../domain/books.js';
import type { CardChangeKind } from '../domain/card-change.js';
import type { Scope } from './lists.js';
import type { Tx } from './transaction.js';

/** What a merchant decided on a card, and how far the issuer has heard of it. */
export interface CardChangeRecord {
  cardId: string;
  number: number;
  book: Book;
  merchantId: string;
  kind: CardChangeKind;
  requestId: string;
  submittedAt: Date | null;
  outcome: 'confirmed' | 'superseded' | null;
  needsOperator: boolean;
}

/** Which change. */
export interface CardChangeName {
  readonly cardId: string;
  readonly number: number;
}

export interface CardChangeRequest extends Scope {
  readonly cardId: string;
  readonly kind: CardChangeKind;
  /** The version of the card that `shown` follows. */
  readonly seenVersion: number;
  /** The card as the API shows it after the move. */
  readonly shown: CardResource;
  readonly request: RequestInput;
  readonly traceId: string;
}

/** What `sverka.request_card_change` answers; its comment says what each means. */
export interface CardChangeRequested {
  readonly answer: 'changed' | 'unchanged' | 'kept' | 'refused' | 'outcome_unknown' | 'stale' | 'not_found';
  /** Of `changed`. */
  readonly number: number | null;
}

/** Request, card, event and change by the gateway's one door to them. */
export async function requestCardChange(tx: Tx, change: CardChangeRequest): Promise<CardChangeRequested> {
  const { request } = change;
  const rows = await tx.query<CardChangeRequested>(
    `select answer, change_number as number
       from sverka.request_card_change($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, decode($11, 'hex'), $12)`,
    [
      change.cardId,
      change.book,
      change.merchantId,
      change.kind,
      change.seenVersion,
      JSON.stringify(change.shown),
      request.id,
      request.key,
      request.method,
      request.path,
      request.fingerprint,
      change.traceId,
    ],
  );
  if (!rows[0]) throw new Error('sverka.request_card_change answered nothing.');
  return rows[0];
}

const SELECT = `select g.card_id as "cardId", g.number, g.book, g.merchant_id as "merchantId", g.kind,
    g.request_id as "requestId", g.submitted_at as "submittedAt", g.outcome, g.needs_operator as "needsOperator"
  from sverka.card_change g`;

export async function readCardChange(db: Tx, of: CardChangeName): Promise<CardChangeRecord> {
  const [row] = await db.query<CardChangeRecord>(`${SELECT} where g.card_id = $1 and g.number = $2`, [
    of.cardId,
    of.number,
  ]);
  if (!row) throw new Error(`Change ${of.number} of card ${of.cardId} does not exist, although its workflow does.`);
  return row;
}

/** Locks the card, then the change, and reads the change as it is then. */
export async function lockCardChange(tx: Tx, of: CardChangeName): Promise<CardChangeRecord> {
  await tx.query('select from sverka.card where id = $1 for no key update', [of.cardId]);
  await tx.query('select from sverka.card_change where card_id = $1 and number = $2 for no key update', [
    of.cardId,
    of.number,
  ]);
  return readCardChange(tx, of);
}

/** True while a change of that card which is older, or newer, has no outcome. */
export async function isChangeOpen(db: Tx, of: CardChangeName, side: 'older' | 'newer'): Promise<boolean> {
  const rows = await db.query(
    `select from sverka.card_change where card_id = $1 and number ${side === 'older' ? '<' : '>'} $2
       and outcome is null limit 1`,
    [of.cardId, of.number],
  );
  return rows.length > 0;
}

/** From now on the issuer may know of it. */
export async function markSubmitted(tx: Tx, of: CardChangeName): Promise<void> {
  await tx.query('update sverka.card_change set submitted_at = clock_timestamp() where card_id = $1 and number = $2', [
    of.cardId,
    of.number,
  ]);
}

/** The issuer has not taken it: it is told again, or a newer one takes its place. */
export async function markNotTold(tx: Tx, of: CardChangeName): Promise<void> {
  await tx.query(
    'update sverka.card_change set submitted_at = null, needs_operator = true where card_id = $1 and number = $2',
    [of.cardId, of.number],
  );
}

/** How it ended, for ever. */
export async function endChange(
  tx: Tx,
  of: CardChangeName,
  outcome: NonNullable<CardChangeRecord['outcome']>,
): Promise<void> {
  await tx.query(
    `update sverka.card_change set outcome = $3, done_at = clock_timestamp(), needs_operator = false
     where card_id = $1 and number = $2`,
    [of.cardId, of.number, outcome],
  );
}

/** Notes that somebody has just tried; the sweep leaves it alone for a while. One that has ended stays as it is. */
export async function touchCardChange(db: Tx, of: CardChangeName, needsOperator: boolean): Promise<void> {
  await db.query(
    'update sverka.card_change set needs_operator = $3 where card_id = $1 and number = $2 and outcome is null',
    [of.cardId, of.number, needsOperator],
  );
}

/**
 * Changes whose workflow may be lost: nobody has touched them for so long; or it was never begun, which shows after
 * the grace.
 */
export async function strandedCardChanges(
  db: Tx,
  of: { olderThanMs: number; graceMs: number },
): Promise<(CardChangeName & { traceId: string | null })[]> {
  return db.query(
    `select g.card_id as "cardId", g.number, g.trace_id as "traceId" from sverka.card_change g
     where g.outcome is null and (g.touched_at <= clock_timestamp() - $1 * interval '1 millisecond'
       or g.touched_at is null and g.created_at <= clock_timestamp() - $2 * interval '1 millisecond')
     order by random() limit 100`,
    [of.olderThanMs, of.graceMs],
  );
}
