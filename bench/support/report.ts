import Table from 'cli-table3';
import type { BenchResult, Comparison, Cost, Reading } from './benchmark.js';
import type { Machine } from './machine.js';
import { type Bound, describeBound, keeps, type Spread, shortNumber } from './statistics.js';

/** A benchmark with what it came to; `failed` when it could not be measured. */
export type Reported =
  | ({ readonly name: string; readonly failed: null } & BenchResult)
  | { readonly name: string; readonly failed: string };

/** The tables for a person. */
export function renderReport(machine: Machine, results: readonly Reported[]): string {
  const done = results.flatMap((result) => (result.failed === null ? [result] : []));
  return [
    renderMachine(machine),
    ratioTable(done.flatMap(({ comparisons }) => comparisons)),
    costTable(done.flatMap(({ name, costs }) => costs.map((cost) => ({ name, ...cost })))),
    readingTable(done.flatMap(({ name, readings }) => readings.map((reading) => ({ name, ...reading })))),
    ...done.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
    ...done.flatMap(({ comparisons }) => comparisons.flatMap(voidLines)),
    ...results.flatMap((result) =>
      result.failed === null ? [] : [`${result.name} was not measured: ${result.failed}`],
    ),
    ...missedLines(done.flatMap(({ comparisons, readings }) => [...missed(comparisons), ...missed(readings)])),
  ].join('\n');
}

/** Costs over their budget, one line each; what was not measured counts as over. */
export function brokenBudgets(results: readonly Reported[]): string[] {
  return results.flatMap((result) => {
    if (result.failed !== null) return [`${result.name}: not measured (${result.failed})`];
    return result.costs
      .filter(({ budget, value }) => budget !== null && !keeps(budget, value))
      .map((cost) => `${result.name}, ${cost.what}: ${shortNumber(cost.value)}, budget ${boundText(cost.budget)}`);
  });
}

function renderMachine({ when, cores, processor, memoryGb, load, versions, settings }: Machine): string {
  const pairs = (values: Readonly<Record<string, string>>) =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ');
  return [
    `${when}: ${cores} cores (${processor}), ${memoryGb} GB, load ${load.join(' ')} before the run`,
    pairs(versions),
    `PostgreSQL: ${pairs(settings)}`,
  ].join('\n');
}

function ratioTable(comparisons: readonly Comparison[]): string {
  const table = new Table({ head: ['ratio', 'ours', 'floor', 'ours ÷ floor (min–max)', 'target', ''], style: PLAIN });
  for (const { what, unit, floorIs, ours, floor, ratio, target, pairs } of comparisons) {
    const side = (spread: Spread) => `${spreadText(spread)} ${unit}`;
    const told = `${what}\n÷ ${floorIs}, ${pairs.length} rounds`;
    table.push([told, side(ours), side(floor), spreadText(ratio), boundText(target), verdict(target, ratio.median)]);
  }
  return table.toString();
}

function costTable(costs: readonly (Cost & { name: string })[]): string {
  const table = new Table({ head: ['cost', 'what', 'value', 'budget', ''], style: PLAIN });
  for (const { name, what, unit, value, budget } of costs) {
    table.push([name, what, `${shortNumber(value)} ${unit}`, boundText(budget), verdict(budget, value)]);
  }
  return table.toString();
}

function readingTable(readings: readonly (Reading & { name: string })[]): string {
  if (readings.length === 0) return '';
  const table = new Table({ head: ['reading', 'what', 'median (min–max)', 'target', ''], style: PLAIN });
  for (const { name, what, unit, spread, target } of readings) {
    table.push([name, what, `${spreadText(spread)} ${unit}`, boundText(target), verdict(target, spread.median)]);
  }
  return table.toString();
}

const PLAIN = { head: [], border: [] };

function spreadText({ median, min, max }: Spread): string {
  return min === max ? shortNumber(median) : `${shortNumber(median)} (${shortNumber(min)}–${shortNumber(max)})`;
}

function boundText(bound: Bound | null): string {
  return bound === null ? '' : describeBound(bound);
}

function verdict(bound: Bound | null, value: number): string {
  if (bound === null) return '';
  return keeps(bound, value) ? 'met' : 'MISSED';
}

function voidLines({ what, voidRounds }: Comparison): string[] {
  return voidRounds.map((reason) => `${what}: a round was void: ${reason}`);
}

function missed(measured: readonly (Comparison | Reading)[]): string[] {
  return measured.flatMap((each) => {
    const value = 'ratio' in each ? each.ratio.median : each.spread.median;
    if (each.target === null || keeps(each.target, value)) return [];
    return [`Missed: ${each.what}: ${shortNumber(value)}, target ${describeBound(each.target)}. Cause: `];
  });
}

function missedLines(lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [...lines, 'Known causes of missed targets stand in docs/reference/benchmarks.md; write a new one there.'];
}
