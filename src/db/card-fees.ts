import type { CardProduct } from '../domain/card.js';
import type { Tx } from './transaction.js';

/** Whose fee, for which cards; null is everybody who has none of his own. */
export interface CardFeeOf {
  readonly merchantId: string | null;
  readonly product: CardProduct;
  readonly asset: string;
}

/** What making a card costs, in minor units of `asset`. */
export interface CardFeeRecord extends CardFeeOf {
  readonly amount: bigint;
  /** Who set it last. */
  readonly setBy: string;
  readonly setAt: Date;
}

const SELECT = `select f.merchant_id as "merchantId", f.product, f.asset, f.amount::text as "amountText",
    f.set_by as "setBy", f.set_at as "setAt" from sverka.card_fee f`;

type FeeRow = Omit<CardFeeRecord, 'amount'> & { amountText: string };

/** The fees for everybody first, then those of merchants; one row more than `limit` when there is more. */
export async function listCardFees(
  db: Tx,
  of: { readonly merchantId: string | null },
  page: { readonly after: string | null; readonly limit: number },
): Promise<CardFeeRecord[]> {
  const rows = await db.query<FeeRow>(
    `${SELECT} where ($1::text is null or f.merchant_id is null or f.merchant_id = $1)
       and ($2::text is null or ${POSITION} > $2 collate "C") order by ${POSITION} limit $3`,
    [of.merchantId, page.after, page.limit + 1],
  );
  return rows.map(toRecord);
}

/** Where a fee stands in the list. */
export function cardFeePosition({ merchantId, product, asset }: CardFeeOf): string {
  return [merchantId ?? '', product, asset].join(' ');
}
const POSITION = `concat_ws(' ', coalesce(f.merchant_id, ''), f.product, f.asset) collate "C"`;

/** The fee set for exactly that, or null. */
export async function findCardFee(db: Tx, of: CardFeeOf): Promise<CardFeeRecord | null> {
  const rows = await db.query<FeeRow>(
    `${SELECT} where f.merchant_id is not distinct from $1 and f.product = $2 and f.asset = $3`,
    [of.merchantId, of.product, of.asset],
  );
  return rows[0] ? toRecord(rows[0]) : null;
}

/** Sets a fee through the admin's function, which keeps the change with who made it; false when it was so before. */
export async function setCardFee(
  db: Tx,
  fee: CardFeeOf & { readonly amount: bigint; readonly setBy: string },
): Promise<boolean> {
  const { merchantId, product, asset, amount, setBy } = fee;
  const rows = await db.query<{ changed: boolean }>('select sverka.set_card_fee($1, $2, $3, $4, $5) as changed', [
    merchantId,
    product,
    asset,
    amount.toString(),
    setBy,
  ]);
  return rows[0]?.changed === true;
}

function toRecord({ amountText, ...row }: FeeRow): CardFeeRecord {
  return { ...row, amount: BigInt(amountText) };
}
