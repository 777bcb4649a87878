import { brokenBudgets, renderReport } from '../../bench/support/report.js';
import { ratioOf, spreadOf } from '../../bench/support/statistics.js';

const machine = {
  when: '2026-01-01T00:00:00.000Z',
  cores: 2,
  processor: 'one',
  memoryGb: 8,
  load: [0.5, 0.5, 0.5],
  versions: { node: '20' },
  settings: { fsync: 'on' },
};

function measured(ratio: number, cost: number) {
  const pairs = [{ ours: ratio * 100, floor: 100 }];
  const comparison = {
    what: 'post',
    unit: 'movements/s',
    floorIs: 'bare inserts',
    pairs,
    ours: spreadOf([ratio * 100]),
    floor: spreadOf([100]),
    ratio: ratioOf(pairs),
    target: { atLeast: 0.5 },
    voidRounds: [],
  };
  const costs = [
    { what: 'WAL', unit: 'bytes', value: cost, budget: { atMost: 1_500 } },
    { what: 'shown', unit: 'bytes', value: 1e9, budget: null },
  ];
  return { name: 'post', failed: null, comparisons: [comparison], costs, readings: [], notes: [] };
}

test('a missed target is shown as missed with room for its cause, and is no broken budget', () => {
  const text = renderReport(machine, [measured(0.4, 1_500)]);
  expect(text).toMatch(/0\.4 .*>= 0\.5 .*MISSED/);
  expect(text).toContain('Missed: post: 0.4, target >= 0.5. Cause: ');
  expect(brokenBudgets([measured(0.4, 1_500)])).toEqual([]);
  expect(renderReport(machine, [measured(0.5, 1_500)])).not.toContain('Missed');
});

test('a cost over its budget is named with both numbers; one without a budget never is', () => {
  expect(brokenBudgets([measured(1, 1_501)])).toEqual(['post, WAL: 1 501, budget <= 1500']);
});

test('what could not be measured counts as a broken budget, not as a cheap one', () => {
  const failed = { name: 'deposit', failed: 'Temporal did not start' };
  expect(brokenBudgets([failed])).toEqual(['deposit: not measured (Temporal did not start)']);
  expect(renderReport(machine, [failed])).toContain('deposit was not measured: Temporal did not start');
});

test('the machine, its load and the settings of the database stand above the numbers', () => {
  const [first, second, third] = renderReport(machine, []).split('\n');
  expect(first).toContain('2 cores');
  expect(first).toContain('load 0.5');
  expect(second).toContain('node 20');
  expect(third).toContain('fsync on');
});
