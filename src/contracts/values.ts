import { z } from 'zod';
import { decimalsOf, findAsset, NETWORKS } from '../domain/assets.js';
import { BOOKS } from '../domain/books.js';
import { hidesCardNumber, namesCardNumber } from '../domain/card-numbers.js';
import { formatAmount, type Minor } from '../domain/money.js';

export const bookSchema = z.enum(BOOKS);
export const networkSchema = z.enum(NETWORKS);

/** Why a name is refused that would be kept as it was given. */
export const NO_CARD_NUMBER = 'must not hold a card number';
export const isFreeOfCardNumbers = (name: string): boolean => !namesCardNumber(name);
/** The same for a trace id: one that a stranger chose may hold a number among more digits. */
export const isTraceFreeOfCardNumbers = (traceId: string): boolean => !hidesCardNumber(traceId);

/** What a merchant calls a customer, an order, a subject. */
export const referenceSchema = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 . _ : -')
  .refine(isFreeOfCardNumbers, NO_CARD_NUMBER);

export const MERCHANT_NAME_CHARACTERS_MAX = 140;

/** True for what a merchant can be called: control characters would reach terminals and pages. */
export function isMerchantName(text: string): boolean {
  return text.trim() !== '' && [...text].length <= MERCHANT_NAME_CHARACTERS_MAX && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

/** True for what a person can sign in as. */
export function isLogin(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(text);
}

/** Code of a listed asset. */
export const assetCodeSchema = z.string().refine(isListedAsset, 'must be a listed asset such as USD');

/** `{"amount":"25.00","asset":"USD"}`: always the asset's own decimals on the way out (API.md 1). */
export const amountSchema = z.object({ amount: z.string(), asset: z.string() });
export type Amount = z.infer<typeof amountSchema>;

/** Whose wallet: the merchant's own, or that of one of his customers. */
export const ownerSchema = z.object({
  type: z.enum(['merchant', 'customer']),
  id: z.string(),
  ref: z.string().nullable(),
});
export type Owner = z.infer<typeof ownerSchema>;

export const settlementSchema = z.object({ mode: z.enum(['as_token', 'settled']), asset: z.string().nullable() });
export type Settlement = z.infer<typeof settlementSchema>;

/** True for the code of an asset that exists here. */
export function isListedAsset(code: string): boolean {
  return findAsset(code) !== undefined;
}

/** Minor units as the API shows them. */
export function toAmount(minor: Minor, asset: string): Amount {
  return { amount: formatAmount(minor, decimalsOf(asset)), asset };
}

/** RFC 3339, UTC, three decimals; a time that has not happened is null. */
export function toTime(time: Date): string;
export function toTime(time: Date | null): string | null;
export function toTime(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}

/** The owner as the API shows it: `ref` is the merchant's name for his customer. */
export function toOwner(row: { merchantId: string; customerId: string | null; customerRef: string | null }): Owner {
  return row.customerId === null
    ? { type: 'merchant', id: row.merchantId, ref: null }
    : { type: 'customer', id: row.customerId, ref: row.customerRef };
}
