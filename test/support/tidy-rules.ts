import { basename } from 'node:path';
import type { SyntaxNode, TidySource } from './tidy-source.js';

export const BUDGETS = { fileLines: 300, functionLines: 70, lineCharacters: 120, parameters: 3 } as const;

/** One breach: `<path>:<line> <what and how to mend it>`. */
export type TidyRule = (source: TidySource) => string[];

/** The rules of a source file, by name. SQL in template text does not count against a budget. */
export const TIDY_RULES = {
  fileBudget,
  functionBudget,
  lineBudget,
  parameterBudget,
  kebabCaseName,
  namedAsItsExport,
  noDefaultExport,
  noBarrel,
  noEnum,
  noAny,
  noSilencedCompiler,
  noEmptyCatch,
  noProcessEnv,
  noNumberForAmount,
  storyFirst,
} as const satisfies Record<string, TidyRule>;

/**
 * Who may read `process.env`: config.ts for what a process is told; start.ts and cli.ts hand theirs to what they start;
 * the scripts and tests hand theirs to what they run. Everything else takes it as an argument.
 */
const ENVIRONMENT_READERS = [
  /^src\/(config|start|cli)\.ts$/,
  /^(scripts|deploy|bench|bin|test)\//,
  /^jest\.config\.mjs$/,
];
/** Names that DESIGN 8 and 11 give, or that say more than any one export. */
const NAMED_BY_DESIGN = /^(index|options|messages|ids|schema|money|journal|errors|values)$/;
const FUNCTIONS = new Set([
  ...['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'],
  ...['ClassMethod', 'PrivateMethod', 'MethodProperty'],
]);
const DEFAULT_EXPORTS = /^(jest\.config\.mjs|\.dependency-cruiser\.cjs|test\/support\/global-[a-z]+\.mjs)$/;

function fileBudget({ path, lines, isSql }: TidySource): string[] {
  const counted = lines.filter((_, at) => !isSql(at + 1, true)).length - (lines.at(-1) === '' ? 1 : 0);
  if (counted <= BUDGETS.fileLines) return [];
  return [`${path}:1 has ${counted} lines, at most ${BUDGETS.fileLines}: is one of them two subjects?`];
}

function functionBudget({ path, visit, linesOf, isSql }: TidySource): string[] {
  const found: string[] = [];
  visit((node, within) => {
    if (!isFunction(node) || isCallOf('describe', within.at(-1))) return;
    const { first, last } = linesOf(node);
    let counted = 0;
    for (let line = first; line <= last; line += 1) if (!isSql(line, true)) counted += 1;
    if (counted <= BUDGETS.functionLines) return;
    found.push(`${path}:${first} a function of ${counted} lines, at most ${BUDGETS.functionLines}: name its parts`);
  });
  return found;
}

function lineBudget({ path, lines, isSql }: TidySource): string[] {
  return lines.flatMap((line, at) =>
    line.length <= BUDGETS.lineCharacters || isSql(at + 1)
      ? []
      : [`${path}:${at + 1} has ${line.length} characters, at most ${BUDGETS.lineCharacters}`],
  );
}

function parameterBudget({ path, visit, linesOf }: TidySource): string[] {
  const found: string[] = [];
  visit((node, within) => {
    if (!isFunction(node) && node.type !== 'Constructor') return;
    // Called by Jest with a row of a table.
    if (isCallOf('test', within.at(-1)) || isCallOf('it', within.at(-1))) return;
    const inner = node['function'] as { params?: unknown[] } | undefined;
    const parameters = ((node['params'] ?? inner?.params ?? []) as unknown[]).length;
    if (parameters <= BUDGETS.parameters) return;
    const at = linesOf(node.span ? node : (within.at(-1) ?? node)).first;
    found.push(
      `${path}:${at} takes ${parameters} positional parameters, at most ${BUDGETS.parameters}: take an object`,
    );
  });
  return found;
}

function kebabCaseName({ path }: TidySource): string[] {
  if (/^\.?[a-z0-9]+(-[a-z0-9]+)*(\.(test|config))?\.(ts|tsx|mjs|cjs)$/.test(basename(path))) return [];
  return [`${path}:1 is not named in kebab-case`];
}

function namedAsItsExport({ path, body }: TidySource): string[] {
  const name = basename(path).replace(/(\.test)?\.[a-z]+$/, '');
  const exported = exportedNames(body);
  if (!path.startsWith('src/') || exported.length === 0 || NAMED_BY_DESIGN.test(name)) return [];
  const words = new Set(exported.flatMap((each) => wordsOf(each)));
  if (name.split('-').some((word) => [...words].some((other) => isSameWord(word, other)))) return [];
  return [`${path}:1 exports ${exported.slice(0, 3).join(', ')}, and none of them says "${name}"`];
}

function noDefaultExport({ path, body, linesOf }: TidySource): string[] {
  if (DEFAULT_EXPORTS.test(path)) return [];
  return body
    .filter((node) => /^ExportDefault/.test(node.type))
    .map((node) => `${path}:${linesOf(node).first} exports a default: give it a name`);
}

function noBarrel({ path, body, linesOf }: TidySource): string[] {
  if (path === 'src/workflows/index.ts') return [];
  return body
    .filter(
      (node) => node.type === 'ExportAllDeclaration' || (node.type === 'ExportNamedDeclaration' && node['source']),
    )
    .map((node) => `${path}:${linesOf(node).first} passes on what another file exports: import it from there`);
}

function noEnum(source: TidySource): string[] {
  return nodesOf(source, (node) => node.type === 'TsEnumDeclaration', 'declares an enum: take an `as const` union');
}

function noAny(source: TidySource): string[] {
  const isAny = (node: SyntaxNode) => node.type === 'TsKeywordType' && node['kind'] === 'any';
  return nodesOf(source, isAny, 'says `any`: take `unknown` and parse it');
}

function noSilencedCompiler({ path, lines }: TidySource): string[] {
  const silences = /(\/\/|\/\*)\s*(@ts-(ignore|expect-error|nocheck)|(biome|eslint|oxlint)-(ignore|disable))/;
  return lines.flatMap((line, at) =>
    silences.test(line) ? [`${path}:${at + 1} silences a tool: mend the cause`] : [],
  );
}

function noEmptyCatch({ path, lines, visit, linesOf }: TidySource): string[] {
  const found: string[] = [];
  const isExplained = ({ first, last }: { first: number; last: number }) =>
    lines.slice(Math.max(0, first - 2), last).some((line) => /\/\/|\/\*/.test(line));
  visit((node, within) => {
    const parent = within.at(-1);
    const isBlock = node.type === 'BlockStatement' || node.type === 'FunctionBody';
    const isEmpty = isBlock && (node['stmts'] as unknown[]).length === 0;
    const isCatch = parent?.type === 'CatchClause' || (isArrow(parent) && isCatchCall(within.at(-2)));
    if (!isEmpty || !isCatch || isExplained(linesOf(node))) return;
    found.push(`${path}:${linesOf(node).first} swallows an error without a word: handle it, or say why not`);
  });
  return found;
}

function noProcessEnv(source: TidySource): string[] {
  if (ENVIRONMENT_READERS.some((allowed) => allowed.test(source.path))) return [];
  const isRead = (node: SyntaxNode) =>
    node.type === 'MemberExpression' && nameOf(node['object']) === 'process' && nameOf(node['property']) === 'env';
  return nodesOf(source, isRead, 'reads process.env: only src/config.ts does; take it as an argument');
}

function noNumberForAmount(source: TidySource): string[] {
  if (!source.path.startsWith('src/')) return [];
  const isNumber = (node: SyntaxNode) => {
    const annotation = (node['typeAnnotation'] as SyntaxNode | null)?.['typeAnnotation'] as SyntaxNode | undefined;
    return annotation?.type === 'TsKeywordType' && annotation['kind'] === 'number';
  };
  const isMoney = (name: string | undefined) => /(^|[a-z])(amount|balance|minor|fee)s?$/i.test(name ?? '');
  return nodesOf(
    source,
    (node) =>
      (isMoney(nameOf(node) ?? nameOf(node['key'])) && isNumber(node)) ||
      (node.type === 'CallExpression' &&
        ['Number', 'parseFloat'].includes(nameOf(node['callee']) ?? '') &&
        takesMoney(node)),
    'holds money in a double: bigint in minor units, decimal strings at the edges',
  );

  function takesMoney(call: SyntaxNode): boolean {
    const [first] = call['arguments'] as { expression: SyntaxNode }[];
    const taken = first?.expression;
    return isMoney(nameOf(taken) ?? nameOf(taken?.['property']));
  }
}

/** A file with an exported function begins with one: helpers stand below, in the order they are called. */
function storyFirst({ path, body, linesOf }: TidySource): string[] {
  const functions = body.filter((node) => isFunction(node) || isFunction(node['declaration'] as SyntaxNode));
  const [first] = functions;
  if (!first || first.type === 'ExportDeclaration' || functions.every((node) => node === first)) return [];
  if (!functions.some((node) => node.type === 'ExportDeclaration')) return [];
  return [`${path}:${linesOf(first).first} a helper stands above the exported story: move it below`];
}

function nodesOf(source: TidySource, wanted: (node: SyntaxNode) => boolean, what: string): string[] {
  const found: string[] = [];
  source.visit((node) => {
    if (wanted(node)) found.push(`${source.path}:${source.linesOf(node).first} ${what}`);
  });
  return found;
}

function isFunction(node: SyntaxNode | undefined): boolean {
  return FUNCTIONS.has(node?.type ?? '');
}

function isArrow(node: SyntaxNode | undefined): boolean {
  return node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression';
}

/** True for `describe(…)` and `describe.each(…)(…)`, whose argument is a list of tests and no function to follow. */
function isCallOf(name: 'describe' | 'it' | 'test', call: SyntaxNode | undefined): boolean {
  let callee = call?.type === 'CallExpression' ? (call['callee'] as SyntaxNode) : undefined;
  while (callee && callee.type !== 'Identifier') {
    callee = (callee['object'] ?? callee['callee']) as SyntaxNode | undefined;
  }
  return nameOf(callee) === name;
}

function isCatchCall(call: SyntaxNode | undefined): boolean {
  return call?.type === 'CallExpression' && nameOf((call['callee'] as SyntaxNode)['property']) === 'catch';
}

function nameOf(node: unknown): string | undefined {
  const { type, value } = (node ?? {}) as { type?: string; value?: unknown };
  return type === 'Identifier' ? String(value) : undefined;
}

function exportedNames(body: readonly SyntaxNode[]): string[] {
  return body
    .filter((node) => node.type === 'ExportDeclaration')
    .flatMap((node) => {
      const declared = node['declaration'] as SyntaxNode;
      const variables = (declared['declarations'] ?? []) as { id: unknown }[];
      return [declared['identifier'], declared['id'], ...variables.map(({ id }) => id)].map(nameOf);
    })
    .filter((name) => name !== undefined);
}

/** `createDepositActivities` is `create`, `deposit`, `activities`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
}

/** The same word but for its ending: `deposits` and `deposit`, `signing` and `signer`. */
function isSameWord(one: string, other: string): boolean {
  const stem = Math.min(one.length, other.length, 4);
  return stem >= 2 && one.slice(0, stem) === other.slice(0, stem);
}
