import { choosePoints } from '../drill/cells.js';

const pointsOf = (count: number) => Array.from({ length: count }, (_, number) => ({ number }));

test('whatever the seed, a short flow has a point, and a long one no more than its share', () => {
  for (const count of [1, 3, 16, 50]) {
    for (let seed = 0; seed < 200; seed += 1) {
      const chosen = choosePoints(pointsOf(count), { points: null, stride: 16, seed });
      expect(chosen.length).toBeGreaterThanOrEqual(1);
      expect(chosen.length).toBeLessThanOrEqual(Math.ceil(count / Math.min(16, count)));
    }
  }
});

test('over its seeds a quick run comes by every point', () => {
  const seen = new Set<number>();
  for (let seed = 0; seed < 16; seed += 1) {
    for (const { number } of choosePoints(pointsOf(50), { points: null, stride: 16, seed })) seen.add(number);
  }
  expect(seen.size).toBe(50);
});

test('points that were asked for are those that are run', () => {
  expect(choosePoints(pointsOf(5), { points: [1, 4], stride: 1, seed: 0 })).toEqual([{ number: 1 }, { number: 4 }]);
});
