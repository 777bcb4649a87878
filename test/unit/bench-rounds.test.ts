import type { BenchContext } from '../../bench/support/benchmark.js';
import { compare, type Round, runCallers } from '../../bench/support/rounds.js';

const context = { size: 'small', rounds: 5, say: () => undefined } as unknown as BenchContext;

function contestOf(rounds: { ours: () => Round; floor: () => Round }) {
  const order: string[] = [];
  const side = (name: string, round: () => Round) => async () => {
    order.push(name);
    return round();
  };
  const before = async () => void order.push('before');
  const said = { what: 'a', unit: 'a second', floorIs: 'less', target: { atLeast: 0.5 } };
  return { order, contest: { ...said, before, ours: side('A', rounds.ours), floor: side('B', rounds.floor) } };
}

const good = (value: number): Round => ({ value, wrong: null });

test('rounds go A B A B, each behind what comes before it, and the first pair does not count', async () => {
  let at = 0;
  const { order, contest } = contestOf({ ours: () => good((at += 1)), floor: () => good(1) });
  const { pairs } = await compare(context, contest);
  expect(order).toEqual(Array.from({ length: 6 }, () => ['before', 'A', 'before', 'B']).flat());
  expect(pairs.map(({ ours }) => ours)).toEqual([2, 3, 4, 5, 6]);
});

test('a round whose check failed counts on neither side; another one is run, and its reason is kept', async () => {
  let at = 0;
  const floor = () => ((at += 1) === 3 ? { value: 1_000, wrong: '9 rows for 10 operations' } : good(2));
  const { contest } = contestOf({ ours: () => good(1), floor });
  const { pairs, voidRounds, ratio } = await compare(context, contest);
  expect(pairs).toHaveLength(5);
  expect(voidRounds).toEqual(['9 rows for 10 operations']);
  expect(ratio).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
});

test('a benchmark whose rounds are void again and again gives no number', async () => {
  const { contest } = contestOf({ ours: () => ({ value: 1, wrong: 'sum of entries 1' }), floor: () => good(1) });
  await expect(compare(context, contest)).rejects.toThrow('4 rounds were void');
});

test('callers share the operations, one at a time each', async () => {
  const running = new Set<number>();
  const done: number[] = [];
  await runCallers({
    callers: 3,
    operations: 20,
    work: async (caller) => {
      expect(running.has(caller)).toBe(false);
      running.add(caller);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(caller);
      done.push(caller);
    },
  });
  expect(done).toHaveLength(20);
  expect(new Set(done)).toEqual(new Set([0, 1, 2]));
});
