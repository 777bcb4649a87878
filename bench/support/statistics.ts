/** Middle and ends of several measurements. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** What a ratio, or a cost, is held against. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number };

/** One round of both sides, run one right after the other; each number in the benchmark's unit. */
export interface Pair {
  readonly ours: number;
  readonly floor: number;
}

/** Median with the least and the largest. Throws when there is nothing, or something that is no number. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = sortedNumbers(values);
  return { median: quantileOf(sorted, 0.5), min: quantileOf(sorted, 0), max: quantileOf(sorted, 1) };
}

/**
 * Ours ÷ floor of each round, and of these the median: never a ratio of two medians, which would compare one side's
 * good moment with the other's bad one.
 */
export function ratioOf(pairs: readonly Pair[]): Spread {
  return spreadOf(pairs.map(({ ours, floor }) => ours / floor));
}

/** The value below which that part (0 to 1) of the values lies, between neighbours by proportion. */
export function quantileOf(values: readonly number[], part: number): number {
  const sorted = sortedNumbers(values);
  const place = (sorted.length - 1) * Math.min(1, Math.max(0, part));
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

/** True when the value keeps the bound; the bound itself keeps it. */
export function keeps(bound: Bound, value: number): boolean {
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}

/** `>= 0.5`, `<= 20`. */
export function describeBound(bound: Bound): string {
  return 'atLeast' in bound ? `>= ${bound.atLeast}` : `<= ${bound.atMost}`;
}

/** Three significant digits, and whole numbers from a hundred up: what such a measurement can say. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const short = Math.abs(value) >= 100 ? Math.round(value).toString() : Number(value.toPrecision(3)).toString();
  const [whole = '', ...fraction] = short.split('.');
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ' '), ...fraction].join('.');
}

function sortedNumbers(values: readonly number[]): number[] {
  if (values.length === 0) throw new Error('Nothing was measured: no round counted.');
  if (values.some((value) => !Number.isFinite(value))) {
    throw new Error(`A measurement is no number: ${values.join(', ')}. Was a round of no length?`);
  }
  return [...values].sort((a, b) => a - b);
}
