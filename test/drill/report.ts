import type { Tally } from './cells.js';

/** One line of the table. */
export interface Row {
  readonly name: string;
  readonly tally: Tally;
}

const HEAD = ['flow', 'cells run', 'hit', 'operations', 'faults', 'ambiguous commits met', 'violations', 'void'];

/** The table as Markdown, so that it can stand in the documentation as it is printed. */
export function makeTable(
  rows: readonly Row[],
  controls: { readonly caught: number; readonly planted: number },
): string {
  const cells = (name: string, t: Tally) =>
    [name, t.cells, t.hit, t.operations, t.faults, t.ambiguous, t.violations.length, t.voids.length].map(String);
  const lines = [HEAD, HEAD.map(() => '---'), ...rows.map(({ name, tally }) => cells(name, tally))];
  if (rows.length > 1) lines.push(cells('**all**', addTallies(rows.map(({ tally }) => tally))));
  const table = lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
  return `${table}\n\nnegative controls caught: ${controls.caught} of ${controls.planted}`;
}

/** All failures with the command that repeats each, those that say the same only once. */
export function listFailures(rows: readonly Row[]): string[] {
  const lines = rows.flatMap(({ name, tally }) => [
    ...tally.violations.map(({ what, repeat }) => `VIOLATION ${name}: ${what}\n  repeat: ${repeat}`),
    ...tally.voids.map(({ what, repeat }) => `VOID ${name}: ${what}\n  repeat: ${repeat}`),
  ]);
  return [...new Set(lines)];
}

function addTallies(tallies: readonly Tally[]): Tally {
  const sum = (name: 'cells' | 'hit' | 'operations' | 'faults' | 'ambiguous') =>
    tallies.reduce((total, tally) => total + tally[name], 0);
  return {
    cells: sum('cells'),
    hit: sum('hit'),
    operations: sum('operations'),
    faults: sum('faults'),
    ambiguous: sum('ambiguous'),
    violations: tallies.flatMap(({ violations }) => violations),
    voids: tallies.flatMap(({ voids }) => voids),
  };
}
