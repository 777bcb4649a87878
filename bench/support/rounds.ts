import type { BenchContext, Comparison } from './benchmark.js';
import { type Bound, type Pair, ratioOf, shortNumber, spreadOf } from './statistics.js';

/** One side of a comparison in one round. */
export interface Round {
  /** In the comparison's unit: operations a second, or milliseconds an operation. */
  readonly value: number;
  /** What its check found wrong with what it left behind; null when all is as it must be. */
  readonly wrong: string | null;
}

export interface Contest {
  readonly what: string;
  readonly unit: string;
  readonly floorIs: string;
  readonly target: Bound | null;
  /** Before each round of either side: a checkpoint, so that none falls into one side alone. */
  readonly before?: () => Promise<void>;
  readonly ours: () => Promise<Round>;
  readonly floor: () => Promise<Round>;
}

/** So many rounds may be void before the benchmark gives up. */
const VOID_ROUNDS_MAX = 3;

/**
 * Rounds ours, floor, ours, floor …, after one of each that does not count. A round counts only when both sides passed
 * their check; a void one is run again. Throws when too many are void.
 */
export async function compare(context: BenchContext, contest: Contest): Promise<Comparison> {
  const { what, unit, floorIs, target } = contest;
  const pairs: Pair[] = [];
  const voidRounds: string[] = [];
  await runPair(contest);
  while (pairs.length < context.rounds) {
    const { ours, floor } = await runPair(contest);
    const wrong = [ours.wrong, floor.wrong].filter((text) => text !== null);
    if (wrong.length === 0) {
      pairs.push({ ours: ours.value, floor: floor.value });
      const [one, other] = [shortNumber(ours.value), shortNumber(floor.value)];
      const ratio = shortNumber(ours.value / floor.value);
      context.say(`${what}, round ${pairs.length}: ${one} against ${other} ${unit}, ratio ${ratio}`);
      continue;
    }
    voidRounds.push(wrong.join('; '));
    context.say(`${what}: a void round: ${wrong.join('; ')}`);
    if (voidRounds.length > VOID_ROUNDS_MAX) throw new Error(`${what}: ${voidRounds.length} rounds were void.`);
  }
  return {
    what,
    unit,
    floorIs,
    target,
    pairs,
    voidRounds,
    ours: spreadOf(pairs.map(({ ours }) => ours)),
    floor: spreadOf(pairs.map(({ floor }) => floor)),
    ratio: ratioOf(pairs),
  };
}

/** Runs `work` until it was called so often, by so many callers at once; answers seconds. */
export async function runCallers(options: {
  readonly callers: number;
  readonly operations: number;
  /** `caller` counts from 0 and has one call at a time. */
  readonly work: (caller: number) => Promise<unknown>;
}): Promise<number> {
  let left = options.operations;
  const began = performance.now();
  const callers = Array.from({ length: options.callers }, async (_, caller) => {
    while (left > 0) {
      left -= 1;
      await options.work(caller);
    }
  });
  await Promise.all(callers);
  return (performance.now() - began) / 1_000;
}

async function runPair(contest: Contest): Promise<{ ours: Round; floor: Round }> {
  await contest.before?.();
  const ours = await contest.ours();
  await contest.before?.();
  return { ours, floor: await contest.floor() };
}
