const DIGITS = 12;

/** The cursor of a position in the benchmarks' journal of balances. */
export function cursorAt(position: number): string {
  return `b${String(position).padStart(DIGITS, '0')}`;
}
