/** An amount in whole minor units (cents, satoshi thousandths, base units of a token). Never a `number`. */
export type Minor = bigint;

const GRAMMAR = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/** Largest amount of an asset that must fit BIGINT (DESIGN 5). */
const BIGINT_MAX = 2n ** 63n - 1n;
/** An asset of more decimals than this is held as NUMERIC(38,0) only. */
const BIGINT_DECIMALS_MAX = 11;

export type AmountRefusal = 'grammar' | 'too_precise' | 'out_of_range';

/**
 * Reads a decimal string as whole minor units: `parseAmount('25.5', 2)` is `2550n`.
 * Returns a refusal for anything outside the grammar of DESIGN 5 (sign, exponent, spaces, other digits), for more
 * fraction digits than the asset has (unless they are zeros) and for what the asset's column could not hold.
 */
export function parseAmount(text: unknown, decimals: number): Minor | AmountRefusal {
  const match = typeof text === 'string' ? GRAMMAR.exec(text) : null;
  if (!match) return 'grammar';
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return 'too_precise';
  const digits = match[1] + fraction.padEnd(decimals, '0');
  if (digits.length > 60) return 'out_of_range';
  const minor = BigInt(digits);
  return minor > largestAmount(decimals) ? 'out_of_range' : minor;
}

/** The largest amount a caller may name in an asset of so many decimals, in minor units. */
export function largestAmount(decimals: number): Minor {
  return decimals > BIGINT_DECIMALS_MAX ? 10n ** 38n - 1n : BIGINT_MAX;
}

/** Writes minor units with exactly the asset's decimals: `formatAmount(-2550n, 2)` is `'-25.50'`. */
export function formatAmount(minor: Minor, decimals: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const sign = minor < 0n ? '-' : '';
  return decimals === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-decimals)}`;
}

/** True for a decimal string inside the grammar, whatever its precision: what a provider may report. */
export function isDecimalString(text: unknown): text is string {
  return typeof text === 'string' && text.length <= 60 && GRAMMAR.test(text);
}

/** True when NUMERIC(38,18) holds it: 20 digits before the point. Further fraction digits stay in the text alone. */
export function fitsReported(text: string): boolean {
  return isDecimalString(text) && (text.split('.')[0] ?? '').length <= 20;
}

/** True when two decimal strings of the grammar say the same number: `25` and `25.00`. */
export function isSameDecimal(one: string, other: string): boolean {
  return withoutZeros(one) === withoutZeros(other);
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
