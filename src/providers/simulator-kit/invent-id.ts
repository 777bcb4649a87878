import { randomBytes } from 'node:crypto';

const LETTERS_FOR_DIGITS = 'ghijklmnop';

/** `icd_` and 24 letters: no digits, for a row of thirteen might pass for a card number, and be refused as one. */
export function inventId(prefix: string): string {
  const hex = randomBytes(12).toString('hex');
  return `${prefix}_${hex.replace(/[0-9]/g, (digit) => LETTERS_FOR_DIGITS.charAt(Number(digit)))}`;
}
