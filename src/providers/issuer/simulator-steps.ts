import { formatAmount, type Minor, parseAmount } from '../../domain/money.js';

/** Scale in which amounts of any asset are added. */
const SCALE = 18;

/** An amount as stated, and whether it adds or takes. */
export interface Step {
  readonly sign: bigint;
  readonly amount: unknown;
}

/** The sum of the steps with as many decimals as the longest of them has; what is no decimal string counts nothing. */
export function sumOf(steps: readonly Step[]): string {
  let sum: Minor = 0n;
  let decimals = 0;
  for (const { sign, amount } of steps) {
    const minor = parseAmount(amount, SCALE);
    if (typeof minor !== 'bigint') continue;
    sum += sign * minor;
    decimals = Math.max(decimals, String(amount).split('.')[1]?.length ?? 0);
  }
  return formatAmount(sum / 10n ** BigInt(SCALE - Math.min(decimals, SCALE)), Math.min(decimals, SCALE));
}
