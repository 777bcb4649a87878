import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOperationKey } from '../../src/db/journal.js';
import { REPOSITORY_ROOT, treeFiles } from '../support/tree-files.js';

const PAGE = 'docs/reference/bad-days.md';
const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
/** Cases of CASES.md whose groups touch what is built; the page says of each where it is shown. */
const CASES = [
  'A01 A02 A03 A05 A07 A08 A11 A12 A14 B01 B03 B04 B05 B06 B08 B10 B11 C01 C03 C05 C06 C07 C09 C10 C12 C13',
  'D01 D02 D04 D06 D07 D08 D10 D12 D13',
  'H02 H04 H05 H06 H08 H09 H11 H12 J01 J03 J04 J06 J07 J09 J10 J11 J13 K01 K04 K06 K07 K10',
  'L01 L04 L05 L08 L11 L12 L13 L15 L16 L17 L19',
].flatMap((line) => line.split(' '));

/** What the page names and the tree does not have: a file, or a title in it. */
function missing(page: string): string[] {
  return [...page.matchAll(/`(test\/[^`]+\.test\.ts)`: "([^"]+)"/g)].flatMap(([, path = '', title = '']) => {
    if (!treeFiles().includes(path)) return [`${path} is not there`];
    const quoted = ["'", '"', '`'].some((quote) => read(path).includes(`${quote}${title}${quote}`));
    return quoted ? [] : [`${path} has no test: ${title}`];
  });
}

test('every test that the page of bad days names is there, under that title', () => {
  const page = read(PAGE);
  expect(missing(page)).toEqual([]);
  expect(page.split('\n').filter((line) => line.includes('.test.ts`: "')).length).toBeGreaterThan(80);
});

test('a test that is gone, or has another title, is missed', () => {
  expect(missing('`test/unit/gone.test.ts`: "x"')).toHaveLength(1);
  expect(missing(`\`test/unit/bad-days.test.ts\`: "${'x'.repeat(9)}"`)).toHaveLength(1);
});

test('every case stands on the page, with a test or with why it does not apply', () => {
  const page = read(PAGE);
  const rows = page.split('\n').filter((line) => /^\| [A-L][0-9]{2} /.test(line));
  const named = rows.flatMap((line) => line.split('|')[1]?.match(/\b[A-L][0-9]{2}\b/g) ?? []);
  expect(named.toSorted()).toEqual(CASES.toSorted());
  for (const row of rows) expect(row.split('|')[2]?.trim()).not.toBe('');
});

test('every case that a title names stands on the page', () => {
  const page = read(PAGE);
  const tests = treeFiles().filter((path) => path.endsWith('.test.ts') && path !== 'test/unit/bad-days.test.ts');
  const named = tests.flatMap((path) =>
    [...read(path).matchAll(/\[CASES ([A-N0-9 ]+)\]/g)].map(([, ids]) => ids ?? ''),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.flatMap((ids) => ids.split(' ')).filter((id) => !page.includes(id))).toEqual([]);
});

test('parts that would read alike when joined are four operations [CASES A11]', () => {
  const key = (account: string, ref: string) =>
    hashOperationKey({
      instrument: { book: 'live', provider: 'custody', account, kind: 'deposit', ref: [ref] },
      generation: 0,
      operation: 'credit',
    }).toString('hex');
  const keys = [key('a::b', 'c'), key('a', 'b::c'), key('a\u0000b', 'c'), key('a', 'b\u0000c')];
  expect(new Set(keys).size).toBe(4);
});

/** Module variables that could carry something from one workflow of a worker's process to the next. */
function stateOf(code: string): string[] {
  return code
    .split('\n')
    .filter((line) => /^(export )?(let|var) |^(export )?const \w+[^=]*= new (Map|Set|Array)\b/.test(line));
}

test('workflow code keeps nothing between two workflows [CASES L13]', () => {
  const files = treeFiles().filter((path) => /^src\/(workflows|contracts)\/.*\.ts$/.test(path));
  expect(files.length).toBeGreaterThan(10);
  expect(files.flatMap((path) => stateOf(read(path)).map((line) => `${path}: ${line}`))).toEqual([]);
  expect(stateOf('let turns = 0;\nexport const seen = new Map<string, number>();')).toHaveLength(2);
});
