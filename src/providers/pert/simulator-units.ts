import { formatAmount, parseAmount } from '../../domain/money.js';
import { badRequest } from '../simulator-kit/requests.js';

const DECIMALS = 18;

/** A decimal string as whole units of 18 decimals; refuses what is none. */
export function unitsOf(text: unknown, member: string): bigint {
  const units = parseAmount(text, DECIMALS);
  if (typeof units === 'bigint') return units;
  throw badRequest(`${member} must be a decimal string with at most ${DECIMALS} decimals and 20 digits before them`);
}

/** Units as a decimal without trailing zeros. */
export function textOfUnits(units: bigint): string {
  return formatAmount(units, DECIMALS).replace(/\.?0+$/, '');
}
