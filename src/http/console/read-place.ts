import type { BalanceRecord } from '../../contracts/balance.js';
import { PageError } from '../pages/page-error.js';

/** A position in a list of balances as a word of an address: what it is made of may hold anything. */
export function placeOf({ position }: BalanceRecord): string {
  return Buffer.from(position).toString('base64url');
}

/** The same read back; what names no place is 422. */
export function readPlace(after: string | null): string | null {
  if (after === null) return null;
  const place = Buffer.from(after, 'base64url').toString();
  if (!/^[!-~]+ [^\0]+$/.test(place)) throw new PageError(422);
  return place;
}
