import { parseSync } from '@swc/core';

/** A node of the syntax tree; what else it holds depends on its type. */
export interface SyntaxNode {
  readonly type: string;
  readonly span?: { readonly start: number; readonly end: number };
  readonly [member: string]: unknown;
}

/** A source file as the tidy rules see it. Lines are counted from 1. */
export interface TidySource {
  /** Relative to the repository. */
  readonly path: string;
  readonly lines: readonly string[];
  readonly body: readonly SyntaxNode[];
  /** Every node with those it stands in, the outermost first. */
  visit(see: (node: SyntaxNode, within: readonly SyntaxNode[]) => void): void;
  linesOf(node: SyntaxNode): { first: number; last: number };
  /** Lines of SQL in template text: with `whole`, those that hold nothing else. */
  isSql(line: number, whole?: boolean): boolean;
}

/** SQL as it begins; a template that begins otherwise counts as code. */
const SQL = /^\s*(--|select|insert|update|delete|with|create|alter|drop|grant|revoke|set|call|do|begin)\b/i;
/** The same in a string on one line, where prose may begin with the same word. */
const SQL_STRING = /^(select .* from|insert into|update .* set|delete from) /i;

/** Parses TypeScript or JavaScript; throws what the parser says about a file that is neither. */
export function tidySource(path: string, text: string): TidySource {
  // The parser's positions are bytes, counted from a base that moves; the semicolon in front tells where it stands.
  const module = parseSync(`;${text.replace(/^#!/, '//')}`, {
    syntax: 'typescript',
    tsx: /x$/.test(path),
    target: 'es2022',
  });
  const [mark, ...body] = module.body as unknown as SyntaxNode[];
  const base = (mark?.span?.start ?? 0) + 1;
  const bytes = Buffer.from(text);
  const starts = [0];
  bytes.forEach((byte, at) => byte === 10 && starts.push(at + 1));
  const lineAt = (position: number) => starts.findLastIndex((start) => start <= position - base) + 1;
  const linesOf = ({ span }: SyntaxNode) => ({
    first: lineAt(span?.start ?? base),
    last: lineAt((span?.end ?? base) - 1),
  });
  const visit: TidySource['visit'] = (see) => body.forEach((node) => walk(node, { within: [], see }));
  return { path, lines: text.split('\n'), body, visit, linesOf, isSql: sqlLines({ visit, linesOf }) };
}

function sqlLines({ visit, linesOf }: Pick<TidySource, 'visit' | 'linesOf'>): TidySource['isSql'] {
  const touched = new Set<number>();
  const whole = new Set<number>();
  visit((node) => {
    const { first, last } = linesOf(node);
    if (node.type === 'StringLiteral' && SQL_STRING.test(String(node['value']))) touched.add(first);
    if (node.type !== 'TemplateLiteral' || !SQL.test(firstText(node))) return;
    for (let line = first; line <= last; line += 1) {
      touched.add(line);
      if (line > first && line < last) whole.add(line);
    }
  });
  return (line, onlyWhole = false) => (onlyWhole ? whole : touched).has(line);
}

function firstText(template: SyntaxNode): string {
  const [first] = template['quasis'] as { raw: string }[];
  return first?.raw ?? '';
}

function walk(
  value: unknown,
  way: { within: readonly SyntaxNode[]; see: (node: SyntaxNode, within: readonly SyntaxNode[]) => void },
): void {
  if (Array.isArray(value)) {
    for (const each of value) walk(each, way);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const node = value as SyntaxNode;
  const isNode = typeof node.type === 'string';
  if (isNode) way.see(node, way.within);
  const within = isNode ? [...way.within, node] : way.within;
  for (const [member, below] of Object.entries(node)) if (member !== 'span') walk(below, { ...way, within });
}
