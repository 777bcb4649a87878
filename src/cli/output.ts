import Table from 'cli-table3';
import picocolors from 'picocolors';

/** A column; amounts and counts stand on the right. */
export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

/** Text of a table; `mark` colours it. */
export type Cell = string | { readonly text: string; readonly mark: (text: string) => string };

/** Where a command writes: one JSON document with `--json`, else lines and tables for a person. */
export interface Output {
  readonly json: boolean;
  /** With `--json` the document, else what `show` writes. Call it once. */
  result(document: unknown, show: () => void): void;
  line(text?: string): void;
  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void;
  /** `name  value` lines. */
  facts(facts: readonly (readonly [string, string | null])[]): void;
  /** Text that stands out; plain where colours are off. */
  readonly mark: Readonly<Record<'good' | 'bad' | 'warn' | 'dim' | 'bold', (text: string) => string>>;
}

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Colours only on a terminal, and never against NO_COLOR (any value) or a dumb terminal. */
export function createOutput(stdout: OutputStream, options: { json: boolean; env: NodeJS.ProcessEnv }): Output {
  const { env } = options;
  const coloured = stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const colours = picocolors.createColors(coloured);
  const line = (text = '') => void stdout.write(`${text}\n`);
  return {
    json: options.json,
    result(document, show) {
      if (options.json) line(JSON.stringify(document, null, 2));
      else show();
    },
    line,
    table(columns, rows) {
      if (rows.length === 0) line(colours.dim('Nothing.'));
      else for (const text of tableLines(columns, rows, colours.bold)) line(text);
    },
    facts(facts) {
      const width = Math.max(...facts.map(([name]) => name.length));
      for (const [name, value] of facts) line(`${colours.dim(name.padEnd(width))}  ${clean(value ?? '–')}`);
    },
    mark: { good: colours.green, bad: colours.red, warn: colours.yellow, dim: colours.dim, bold: colours.bold },
  };
}

/** Text of others on a terminal: control characters and those that turn the direction of writing are made visible. */
export function clean(text: string): string {
  return text.replace(HARMFUL, '\u{fffd}');
}

const HARMFUL = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A time for a person: UTC, as in the API. */
export function utc(time: Date | string | null): string {
  if (time === null) return '–';
  return (typeof time === 'string' ? time : time.toISOString()).replace('T', ' ').replace('Z', '');
}

function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  bold: (text: string) => string,
): string[] {
  const table = new Table({
    head: columns.map(({ title }) => bold(title)),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    chars: BARE,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  });
  table.push(...rows.map((row) => row.map(toText)));
  return table.toString().split('\n').map(trimEnd);
}

/** No lines, two spaces between columns. */
const BARE = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
};

function toText(cell: Cell): string {
  return typeof cell === 'string' ? clean(cell) : cell.mark(clean(cell.text));
}

function trimEnd(text: string): string {
  return text.replace(/ +$/, '');
}
