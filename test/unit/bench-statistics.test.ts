import { describeBound, keeps, quantileOf, ratioOf, shortNumber, spreadOf } from '../../bench/support/statistics.js';

test('a spread is the middle, the least and the largest, whatever the order', () => {
  expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
  expect(spreadOf([4, 2])).toEqual({ median: 3, min: 2, max: 4 });
  expect(spreadOf([10, 9, 100])).toEqual({ median: 10, min: 9, max: 100 });
});

test('a ratio is taken within each round, so that a slow moment of the machine spoils neither side', () => {
  const pairs = [
    { ours: 50, floor: 100 },
    { ours: 5, floor: 10 },
    { ours: 60, floor: 100 },
  ];
  expect(ratioOf(pairs)).toEqual({ median: 0.5, min: 0.5, max: 0.6 });
  // The medians of the sides alone would say 50 ÷ 100 here, and 50 ÷ 10 below.
  expect(
    ratioOf([
      { ours: 50, floor: 100 },
      { ours: 50, floor: 10 },
      { ours: 1, floor: 2 },
    ]).median,
  ).toBe(0.5);
});

test('a quantile lies between its neighbours by proportion, and its ends are the ends', () => {
  const values = Array.from({ length: 101 }, (_, at) => 100 - at);
  expect(quantileOf(values, 0.99)).toBe(99);
  expect(quantileOf(values, 0)).toBe(0);
  expect(quantileOf(values, 1)).toBe(100);
  expect(quantileOf([1, 2], 0.25)).toBe(1.25);
  expect(quantileOf([7], 0.99)).toBe(7);
});

test('nothing, and what is no number, is refused instead of measured', () => {
  expect(() => spreadOf([])).toThrow('Nothing was measured');
  expect(() => spreadOf([1, Number.NaN])).toThrow('no number');
  expect(() => ratioOf([{ ours: 1, floor: 0 }])).toThrow('no number');
  expect(() => quantileOf([], 0.5)).toThrow('Nothing was measured');
});

test('a bound is kept by itself and broken by what lies past it', () => {
  expect([0.49, 0.5, 0.51].map((value) => keeps({ atLeast: 0.5 }, value))).toEqual([false, true, true]);
  expect([19, 20, 21].map((value) => keeps({ atMost: 20 }, value))).toEqual([true, true, false]);
  expect([describeBound({ atLeast: 0.5 }), describeBound({ atMost: 20 })]).toEqual(['>= 0.5', '<= 20']);
});

test('a number is shown with three digits, and whole from a hundred up', () => {
  expect([0.012345, 0.5, 12.345, 99.96, 123.4, 12_345.6, 1_234_567].map(shortNumber)).toEqual([
    '0.0123',
    '0.5',
    '12.3',
    '100',
    '123',
    '12 346',
    '1 234 567',
  ]);
  expect([0, 1, 1.5].map(shortNumber)).toEqual(['0', '1', '1.5']);
});
