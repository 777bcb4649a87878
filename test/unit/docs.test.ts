import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { REPOSITORY_ROOT, treeFiles } from '../support/tree-files.js';

interface Page {
  readonly path: string;
  readonly text: string;
}

const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
const files = treeFiles();
const folders = new Set(files.flatMap((path) => parentsOf(path)));
const pages: Page[] = files.filter((path) => path.endsWith('.md')).map((path) => ({ path, text: read(path) }));
const manifest = JSON.parse(read('package.json')) as Record<
  'scripts' | 'dependencies' | 'devDependencies' | 'optionalDependencies',
  Record<string, string>
>;

test('every link of every page leads somewhere, headings included', () => {
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.flatMap((page) => linkProblems(page))).toEqual([]);
});

test('every file that a page names is there', () => {
  expect(pages.flatMap((page) => pathProblems(page))).toEqual([]);
});

test('every command of npm that a page names is there', () => {
  const builtIn = new Set(['start', 'test', 'ci', 'install']);
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\bnpm (?:run )?(?:-s )?([a-z]+)/g)].map(([, name]) => ({ path, name: name ?? '' })),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ name }) => !(name in manifest.scripts) && !builtIn.has(name))).toEqual([]);
});

test('a link to nowhere, a heading that is not there and a file that is gone are seen', () => {
  const page = (text: string) => ({ path: 'docs/start/planted.md', text });
  expect(linkProblems(page('[a](gone.md)'))).toHaveLength(1);
  expect(linkProblems(page('[a](development.md#no-such-heading)'))).toHaveLength(1);
  expect(linkProblems(page('[a](development.md#other-servers), [b](../../README.md), [c](../concepts)'))).toEqual([]);
  expect(pathProblems(page('`src/db/gone.ts`, `test/db/gone*.test.ts`'))).toHaveLength(2);
  expect(pathProblems(page('`src/db/pool.ts`, `src/domain/*.ts`, `src/http/`, `src/<name>/`'))).toEqual([]);
});

test('each dependency has one line of reason, and nothing else has', () => {
  const text = read('docs/decisions/dependencies.md').split('## Not taken')[0] ?? '';
  const reasoned = [...text.matchAll(/^\| `([^`]+)` \| .{10,} \|$/gm)].map(([, name]) => name ?? '');
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const used = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(reasoned.toSorted()).toEqual(used.toSorted());
});

test('each setting that the configuration reads is explained', () => {
  const settings = [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name ?? '');
  const explained = read('docs/reference/configuration.md');
  expect(settings.length).toBeGreaterThan(20);
  // `…_MAX` stands for the name before it with that ending.
  const isExplained = (name: string) => explained.includes(`\`${name}\``) || /_(MAX)$/.test(name);
  expect(settings.filter((name) => !isExplained(name))).toEqual([]);
});

test('each decision has its question, its answer and its reason, and stands in the list', () => {
  const listed = read('docs/decisions/README.md');
  const decisions = pages.filter(({ path }) => /^docs\/decisions\/[0-9]/.test(path));
  expect(decisions.length).toBeGreaterThan(5);
  for (const { path, text } of decisions) {
    expect(listed).toContain(`](${path.replace('docs/decisions/', '')})`);
    for (const part of ['The question.', 'Decided.', 'Why.', 'Price.']) expect(text).toContain(`**${part}**`);
  }
});

test('the changelog opens with what is not released, and has a dated line for each route', () => {
  const changelog = read('CHANGELOG.md');
  expect(/^## (.*)$/m.exec(changelog)?.[1]).toBe('Unreleased');
  const { paths } = JSON.parse(read('openapi.json')) as { paths: Record<string, object> };
  const routes = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.keys(verbs)
      .filter((verb) => /^(get|post|put|patch|delete)$/.test(verb))
      .map((verb) => `\`${verb.toUpperCase()} ${path}\``),
  );
  const dated = changelog.split('\n').filter((line) => /^- [0-9]{4}-[0-9]{2}-[0-9]{2} /.test(line));
  expect(routes.filter((route) => !dated.some((line) => line.includes(route)))).toEqual([]);
});

/** Links within the repository; code does not count. */
function linkProblems({ path, text }: Page): string[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, '').replaceAll(/`[^`\n]*`/g, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', heading] = target.split('#');
      const at = file === '' ? path : normalize(join(dirname(path), file)).replace(/\/$/, '');
      if (!files.includes(at) && !folders.has(at)) return true;
      return heading !== undefined && !headingsOf(read(at)).includes(heading);
    })
    .map((target) => `${path}: ${target}`);
}

/** Headings as GitHub names them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Paths in backticks that begin with one of our folders. */
function pathProblems({ path, text }: Page): string[] {
  const named = [...text.matchAll(/`((?:src|test|docs|scripts|deploy|migrations|bin)\/[^`\s]*)`/g)];
  return named
    .map(([, name]) => name ?? '')
    .filter((name) => !isOpen(name))
    .filter((name) => {
      const pattern = name.replace(/\/$/, '').split('*').map(escapeRegExp).join('[^/]*');
      const wanted = new RegExp(`^${pattern}$`);
      return ![...files, ...folders].some((file) => wanted.test(file));
    })
    .map((name) => `${path}: ${name}`);
}

/** `<name>` and `…` leave something open; deploy/.env is made on the machine and not kept in the repository. */
function isOpen(name: string): boolean {
  return /[<…{]/.test(name) || name === 'deploy/.env';
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.+?^$()[\]\\|]/g, '\\$&');
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...parentsOf(parent)];
}
