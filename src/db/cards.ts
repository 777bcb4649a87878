import type { CardRecord } from '../contracts/card.js';
import type { Book } from '../domain/books.js';
import type { CardState } from '../domain/card.js';
import { fromIssuanceJson, ISSUANCE_COLUMNS, type IssuanceJson } from './issuances.js';
import { listQuery, type Scope, type Wanted } from './lists.js';
import type { Tx } from './transaction.js';

/**
 * Everything of a card, with its newest issuance and what the journal says is loaded on it; alias `c`. One statement,
 * so that card and issuance are of one moment: a card is never shown as pending beside an issuance that is settled.
 */
const cardsFrom = (
  table: string,
) => `select c.id, c.book, c.merchant_id as "merchantId", c.cardholder_id as "cardholderId", c.product,
    c.asset, c.provider, c.provider_account as "providerAccount", c.provider_ref as "providerRef", c.last4, c.expires,
    c.provider_status as "providerStatus", c.provider_read_at as "providerReadAt",
    coalesce(b.balance, 0)::text as "loadedText",
    exists (select from sverka.card_change g where g.card_id = c.id and g.outcome is null) as changing,
    c.state, c.version, c.reason, c.created_at as "createdAt",
    c.updated_at as "updatedAt", to_jsonb(i) as "issuanceJson"
  from ${table} c
  left join lateral (select ${ISSUANCE_COLUMNS} from sverka.issuance i where i.card_id = c.id
    order by i.generation desc limit 1) i on true
  left join lateral (select e.balance from ledger.account a join ledger.entry e on e.account_id = a.id
    where a.book = c.book and a.merchant_id = c.merchant_id and a.customer_id is null and a.kind = 'card'
      and a.ref = c.id and a.asset = c.asset order by e.seq desc limit 1) b on true`;
const CARD_SELECT = cardsFrom('sverka.card');

type CardRow = Omit<CardRecord, 'loaded' | 'issuance'> & { loadedText: string; issuanceJson: IssuanceJson | null };

/** The merchant's own card of that id, in that book. */
export async function findCard(db: Tx, of: Scope & { id: string }): Promise<CardRecord | null> {
  const params = [of.id, of.book, of.merchantId];
  const where = 'where c.id = $1 and c.book = $2 and c.merchant_id = $3';
  return (await db.query<CardRow>(`${CARD_SELECT} ${where}`, params)).map(toCardRecord)[0] ?? null;
}

/** The card of that id, whoever owns it: for the worker and for people of ours. */
export async function readCard(db: Tx, id: string): Promise<CardRecord> {
  const [row] = await db.query<CardRow>(`${CARD_SELECT} where c.id = $1`, [id]);
  if (!row) throw new Error(`Card ${id} does not exist, although its issuance does.`);
  return toCardRecord(row);
}

export async function listCards(db: Tx, of: Scope, wanted: Wanted): Promise<CardRecord[]> {
  const { sql, params } = listQuery({ select: CARD_SELECT, table: 'sverka.card', alias: 'c' }, of, wanted);
  return (await db.query<CardRow>(sql, params)).map(toCardRecord);
}

export interface NewCard extends Scope {
  readonly id: string;
  readonly cardholderId: string;
  readonly product: string;
  readonly asset: string;
  readonly provider: string;
  readonly account: string;
  readonly actor: string;
  readonly traceId: string;
}

/** Inserts it as `pending`: it exists, with its id, from the reserve on. */
export async function insertCard(tx: Tx, card: NewCard): Promise<void> {
  await tx.query(
    `insert into sverka.card (id, book, merchant_id, cardholder_id, product, asset, provider, provider_account, actor,
       trace_id, state) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending')`,
    [
      card.id,
      card.book,
      card.merchantId,
      card.cardholderId,
      card.product,
      card.asset,
      card.provider,
      card.account,
      card.actor,
      card.traceId,
    ],
  );
}

/** What the issuer made: nothing else of a card is kept anywhere. */
export interface MadeCard {
  readonly providerRef: string;
  readonly last4: string;
  readonly expires: string;
  /** What the issuer calls it: a mirror (R19). */
  readonly status: string;
}

export interface CardMove {
  readonly from: readonly CardState[];
  readonly to: CardState;
  readonly reason: string | null;
  readonly actor: string;
  readonly traceId: string;
  readonly made?: MadeCard;
}

/** Compare-and-set; answers the card as it is then, or null when it has left `from` meanwhile. */
export async function moveCard(tx: Tx, id: string, move: CardMove): Promise<CardRecord | null> {
  const { made } = move;
  const [row] = await tx.query<CardRow>(
    `with moved as (
       update sverka.card set state = $3, version = version + 1, reason = $4, actor = $5, trace_id = $6,
         provider_ref = coalesce($7, provider_ref), last4 = coalesce($8, last4), expires = coalesce($9, expires),
         provider_status = coalesce($10, provider_status),
         provider_read_at = case when $10::text is null then provider_read_at else clock_timestamp() end
       where id = $1 and state = any ($2) returning *)
     ${cardsFrom('moved')}`,
    [
      id,
      move.from,
      move.to,
      move.reason,
      move.actor,
      move.traceId,
      made?.providerRef ?? null,
      made?.last4 ?? null,
      made?.expires ?? null,
      made?.status ?? null,
    ],
  );
  return row ? toCardRecord(row) : null;
}

/** Locks the card and reads it as it is then: before its issuance, its loads and its changes. */
export async function lockCard(tx: Tx, id: string): Promise<CardRecord> {
  await tx.query('select from sverka.card where id = $1 for no key update', [id]);
  return readCard(tx, id);
}

/** Its money moved and its state did not: the next version, under its lock. */
export async function nextCardVersion(tx: Tx, id: string): Promise<void> {
  await tx.query('update sverka.card set version = version + 1 where id = $1', [id]);
}

/** What the issuer says of the card now: a mirror (R19). Answers what he said before, and how it stands here. */
export async function noteCardStatus(
  tx: Tx,
  id: string,
  providerStatus: string,
): Promise<{ readonly said: string | null; readonly state: CardState; readonly book: Book }> {
  const rows = await tx.query<{ said: string | null; state: CardState; book: Book }>(
    `update sverka.card c set provider_status = $2, provider_read_at = clock_timestamp()
       from (select provider_status as said from sverka.card where id = $1) before
      where c.id = $1 returning before.said, c.state, c.book`,
    [id, providerStatus],
  );
  if (!rows[0]) throw new Error(`Card ${id} does not exist, although its issuance does.`);
  return rows[0];
}

/** Of which product and asset, for which merchant. */
export interface CardOffer {
  readonly merchantId: string;
  readonly product: string;
  readonly asset: string;
}

const CARD_FEE = `select amount::text from sverka.card_fee where product = $2 and asset = $3
    and (merchant_id = $1 or merchant_id is null) order by merchant_id nulls last limit 1`;

/** What making such a card costs this merchant, in minor units; null when it is not offered. */
export async function cardFee(db: Tx, of: CardOffer): Promise<bigint | null> {
  const rows = await db.query<{ amount: string }>(CARD_FEE, [of.merchantId, of.product, of.asset]);
  return rows[0] ? BigInt(rows[0].amount) : null;
}

/**
 * What a card is made by now: that fee, and the revision of the identity that is sent; null when it was erased, or is
 * not that merchant's in that book.
 */
export async function cardTerms(
  tx: Tx,
  of: CardOffer & { readonly book: Book; readonly cardholderId: string },
): Promise<{ fee: bigint | null; revision: number | null }> {
  const [row] = await tx.query<{ fee: string | null; revision: number | null }>(
    `select (${CARD_FEE}) as fee,
       (select revision from sverka.cardholder
         where id = $4 and merchant_id = $1 and book = $5 and state = 'active') as revision`,
    [of.merchantId, of.product, of.asset, of.cardholderId, of.book],
  );
  return { fee: row?.fee == null ? null : BigInt(row.fee), revision: row?.revision ?? null };
}

function toCardRecord({ loadedText, issuanceJson, ...card }: CardRow): CardRecord {
  if (issuanceJson === null) throw new Error(`Card ${card.id} has no issuance, although both are born together.`);
  return { ...card, loaded: BigInt(loadedText), issuance: fromIssuanceJson(issuanceJson) };
}
