import type { BenchServers } from './servers.js';
import type { Bound, Pair, Spread } from './statistics.js';

export type Size = 'small' | 'full';

/** What a benchmark is given. */
export interface BenchContext {
  readonly size: Size;
  readonly servers: BenchServers;
  /** Counted rounds of each comparison. */
  readonly rounds: number;
  /** One line for whoever waits. */
  readonly say: (line: string) => void;
}

/** Ours against a floor, in one interleaved run. */
export interface Comparison {
  readonly what: string;
  /** Of both sides: `requests/s`. */
  readonly unit: string;
  readonly floorIs: string;
  readonly pairs: readonly Pair[];
  readonly ours: Spread;
  readonly floor: Spread;
  readonly ratio: Spread;
  /** Null where it is only shown. */
  readonly target: Bound | null;
  /** Why rounds did not count. */
  readonly voidRounds: readonly string[];
}

/** What one operation costs, whatever the machine does besides. */
export interface Cost {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  /** Null where it is only shown. */
  readonly budget: Bound | null;
}

/** A number with a target that is neither a ratio nor free of noise: a growth of memory. */
export interface Reading {
  readonly what: string;
  readonly unit: string;
  readonly spread: Spread;
  readonly target: Bound | null;
}

export interface BenchResult {
  readonly comparisons: readonly Comparison[];
  readonly costs: readonly Cost[];
  readonly readings: readonly Reading[];
  /** What helps to understand the numbers. */
  readonly notes: readonly string[];
}

export interface Benchmark {
  readonly name: string;
  readonly about: string;
  run(context: BenchContext): Promise<BenchResult>;
}
