import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUDGETS, TIDY_RULES } from '../support/tidy-rules.js';
import { tidySource } from '../support/tidy-source.js';
import { README_LINES_MAX, TIDY_TEXT_RULES } from '../support/tidy-text-rules.js';
import { REPOSITORY_ROOT, treeFiles } from '../support/tree-files.js';

const files = treeFiles();
const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
const isSource = (path: string) => /\.(ts|tsx|mjs|cjs)$/.test(path) && !path.startsWith('test/fixtures/');
const isText = (path: string) => !/\.(png|ico|woff2?|gz|pdf)$|^package-lock\.json$|^LICENSE$/.test(path);
const sources = files.filter(isSource).map((path) => tidySource(path, read(path)));
const texts = files.filter(isText).map((path) => ({ path, lines: read(path).split('\n') }));

describe('the tree', () => {
  test('is seen', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(texts.length).toBeGreaterThan(sources.length);
  });

  test.each(Object.entries(TIDY_RULES))('keeps the rule %s in every source file', (_, rule) => {
    expect(sources.flatMap((source) => rule(source))).toEqual([]);
  });

  test.each(Object.entries(TIDY_TEXT_RULES))('keeps the rule %s in every text file', (_, rule) => {
    expect(texts.flatMap((text) => rule(text))).toEqual([]);
  });

  test('numbers each migration once, with six digits', () => {
    expect(migrationBreaches(files)).toEqual([]);
  });
});

const long = (lines: number, line = 'x();') => `${line}\n`.repeat(lines);
const inFunction = (text: string) => `export function f() {\n${text}}\n`;
const SQL_TEXT = `const q = \`select a\n${long(400, '  , b')}\`;\n`;

/** Per rule: what breaches it, and its harmless neighbour. */
const PLANTED: Record<keyof typeof TIDY_RULES, { breach: PlantedFile[]; clean: PlantedFile[] }> = {
  fileBudget: { breach: [[long(BUDGETS.fileLines + 1)]], clean: [[long(BUDGETS.fileLines)], [SQL_TEXT]] },
  functionBudget: {
    breach: [
      [inFunction(long(BUDGETS.functionLines - 1))],
      [`class A {\n  b() {\n${long(70)}}\n}\n`],
      [`const a = { b() {\n${long(70)}} };\n`],
      [`test('a', () => {\n${long(70)}});\n`],
    ],
    clean: [
      [inFunction(long(BUDGETS.functionLines - 2))],
      [inFunction(SQL_TEXT)],
      [`describe('a', () => {\n${long(100)}});\n`],
      [`describe.each([1])('a', () => {\n${long(100)}});\n`],
    ],
  },
  lineBudget: {
    breach: [[`const a = '${'x'.repeat(120)}';\n`], [`// ${'x'.repeat(120)}\n`]],
    clean: [[`const q = \`select '${'x'.repeat(120)}'\`;\n`], [`const q = 'select ${'x'.repeat(120)} from t ';\n`]],
  },
  parameterBudget: {
    breach: [
      ['function f(a, b, c, d) {}\n'],
      ['const f = (a, b, c, d) => 1;\n'],
      ['class A { constructor(a, b, c, d) {} }\n'],
      ['class A { f(a, b, c, d) {} }\n'],
    ],
    clean: [['function f(a, b, { c, d }) {}\n'], ["test.each([])('a', (a, b, c, d) => {});\n"]],
  },
  kebabCaseName: {
    breach: [
      ['', 'src/db/readTickets.ts'],
      ['', 'src/db/read_tickets.ts'],
      ['', 'src/Worker.ts'],
    ],
    clean: [
      ['', 'src/db/read-tickets.ts'],
      ['', 'test/unit/tidy.test.ts'],
      ['', '.dependency-cruiser.cjs'],
    ],
  },
  namedAsItsExport: {
    breach: [['export function readCursor() {}\n', 'src/db/wallets.ts']],
    clean: [
      ['export function readWallet() {}\n', 'src/db/wallets.ts'],
      ['export const timedSigner = 1;\n', 'src/providers/signing.ts'],
      ['run();\n', 'src/worker.ts'],
    ],
  },
  noDefaultExport: {
    breach: [['export default 1;\n'], ['export default function f() {}\n']],
    clean: [['export default {};\n', 'jest.config.mjs']],
  },
  noBarrel: {
    breach: [["export * from './a.js';\n"], ["export { a } from './a.js';\n"], ["export type { A } from './a.js';\n"]],
    clean: [["export { a } from './a.js';\n", 'src/workflows/index.ts'], ['const a = 1;\nexport { a };\n']],
  },
  noEnum: { breach: [['enum A { b }\n'], ['const enum A { b }\n']], clean: [["const a = ['b'] as const;\n"]] },
  noAny: {
    breach: [['let a: any;\n'], ['const a = b as any;\n'], ['function f(a: any[]) {}\n']],
    clean: [['let a: unknown; // any\n'], ["const any = 'any';\n"]],
  },
  noSilencedCompiler: {
    breach: [
      [`// ${'@'}ts-ignore\n`],
      [`// ${'@'}ts-expect-error\n`],
      [`// ${'oxlint'}-disable-next-line\n`],
      [`/* ${'@'}ts-nocheck */\n`],
    ],
    clean: [['// a type error\n']],
  },
  noEmptyCatch: {
    breach: [['try { a(); } catch {}\n'], ['try { a(); } catch (e) {\n}\n'], ['a().catch(() => {});\n']],
    clean: [
      ['try { a(); } catch {\n  // It is gone already.\n}\n'],
      ['a().catch(() => undefined);\n'],
      ['const f = () => {};\n'],
    ],
  },
  noProcessEnv: {
    breach: [
      ['a(process.env);\n', 'src/local/paths.ts'],
      ["process.env['A'];\n", 'src/worker.ts'],
      ['const b = process.env.A;\n'],
    ],
    clean: [['a(process.env);\n', 'src/config.ts'], ['a(environment.env);\n']],
  },
  noNumberForAmount: {
    breach: [
      ['interface A { amount: number }\n'],
      ['function f(balance: number) {}\n'],
      ['const a = Number(amount);\n'],
      ['const a = parseFloat(row.creditedAmount);\n'],
    ],
    clean: [['interface A { amount: bigint; decimals: number }\n'], ['const a = Number(count);\n']],
  },
  storyFirst: {
    breach: [['function help() {}\nexport function story() {}\n']],
    clean: [['export function story() {}\nfunction help() {}\n'], ['function a() {}\nfunction b() {}\n']],
  },
};
type PlantedFile = readonly [text: string, path?: string];

describe('each rule of a source file', () => {
  test.each(Object.entries(PLANTED))('%s refuses what is planted, and leaves its neighbour alone', (name, planted) => {
    const rule = TIDY_RULES[name as keyof typeof TIDY_RULES];
    const found = ([text, path = 'src/db/planted.ts']: PlantedFile) => rule(tidySource(path, text));
    for (const each of planted.breach) expect({ each, found: found(each).length }).toEqual({ each, found: 1 });
    for (const each of planted.clean) expect({ each, found: found(each) }).toEqual({ each, found: [] });
  });

  test('tells the line, also below letters of several bytes and after other files', () => {
    const source = tidySource('src/a.ts', "// Сверка\nconst a = 'é';\n\nlet b: any;\n");
    expect(TIDY_RULES.noAny(source)).toEqual([expect.stringMatching(/^src\/a\.ts:4 /)]);
  });
});

/** Joined here, so that the tree does not hold them. */
const TEXTS: Record<keyof typeof TIDY_TEXT_RULES, { breach: string[]; clean: string[] }> = {
  noLooseEnds: { breach: [`// ${'TO'}${'DO'} later`, `-- ${'FIX'}${'ME'}`], clean: ['to do so'] },
  noRegistryHost: {
    breach: [`https://registry.${'npm'}${'js.org'}/a`, `index-url = https://${'py'}${'pi.org'}/simple`],
    clean: ['https://example.com/a'],
  },
  noSecret: {
    breach: [
      `-----BEGIN ${'PRIVATE'} KEY-----`,
      `'sk_live_${'a1B2c3D4e5'.repeat(4)}xyz'`,
      `'whsec_${'a1B2c3D4e5'.repeat(3)}'`,
      `postgres://sverka:${'letmein'}99@db/sverka`,
    ],
    clean: ['sk_live_…', 'whsec_…', 'postgres://user:$' + '{PASSWORD}@db/sverka', 'postgres://postgres@db/sverka'],
  },
  noCardNumber: {
    breach: [`pan ${'40128888'}${'88881881'}`, `${'4012 8888'} 8888 1881`, `"${'378282246'}${'310005'}"`],
    clean: ['4242424242424242', '9223372036854775807', '4012888888881882', '1764500130123', '0x40128888888818810'],
  },
  shortReadme: { breach: ['\n'.repeat(README_LINES_MAX + 1)], clean: ['\n'.repeat(README_LINES_MAX)] },
};

describe('each rule of a text file', () => {
  test.each(Object.entries(TEXTS))('%s refuses what is planted, and leaves its neighbour alone', (name, planted) => {
    const rule = TIDY_TEXT_RULES[name as keyof typeof TIDY_TEXT_RULES];
    const found = (text: string) => rule({ path: 'README.md', lines: text.split('\n') }).length;
    expect(planted.breach.map(found)).toEqual(planted.breach.map(() => 1));
    expect(planted.clean.map(found)).toEqual(planted.clean.map(() => 0));
  });
});

test('a migration with a number that is there already, or of another length, is refused', () => {
  expect(migrationBreaches(['migrations/000001_a.sql', 'migrations/000001_b.sql'])).toHaveLength(1);
  expect(migrationBreaches(['migrations/01_a.sql'])).toHaveLength(1);
  expect(migrationBreaches(['migrations/000001_a.sql', 'migrations/000003_b.sql'])).toEqual([]);
});

function migrationBreaches(paths: readonly string[]): string[] {
  const migrations = paths.filter((path) => path.startsWith('migrations/'));
  const numbers = migrations.map((path) => /^migrations\/([0-9]{6})_[a-z0-9_]+\.sql$/.exec(path)?.[1]);
  return migrations.filter((_, at) => numbers[at] === undefined || numbers.indexOf(numbers[at]) !== at);
}
