import { findAsset } from './assets.js';
import { BOOKS, type Book } from './books.js';
import { type Minor, parseAmount } from './money.js';

/** One line of a file of opening balances. */
export interface OpeningBalance {
  /** Counted from 1, the heading is line 1. */
  readonly line: number;
  readonly book: Book;
  readonly merchantId: string;
  /** The merchant's name for his customer; null for the merchant's own wallet. */
  readonly customerRef: string | null;
  readonly asset: string;
  readonly amount: Minor;
  readonly reference: string | null;
}

/** What is wrong with a line, in words for whoever wrote it. */
export interface LineProblem {
  readonly line: number;
  readonly detail: string;
}

/** As many as one transaction posts. */
export const OPENINGS_MAX = 1_000;

const HEADING = 'book,owner,asset,amount,reference';
const OWNER = /^(mer_[0-9a-z]{26})(?:\/([A-Za-z0-9._:-]{1,64}))?$/;
const REFERENCE_CHARACTERS_MAX = 140;

/**
 * Reads a CSV file of opening balances: `book,owner,asset,amount,reference`, the owner `mer_…` or `mer_…/<customer>`,
 * the amount in the asset's own unit. Answers every bad line, or all lines; an account stands in it once.
 */
export function readOpeningBalances(text: string): OpeningBalance[] | { readonly problems: LineProblem[] } {
  const lines = text
    .replace(/^\u{feff}/u, '')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  if (lines[0] !== HEADING) return { problems: [{ line: 1, detail: `the heading must be ${HEADING}` }] };
  if (lines.length === 1) return { problems: [{ line: 1, detail: 'there is nothing below the heading' }] };
  if (lines.length - 1 > OPENINGS_MAX) {
    const detail = `a file has ${OPENINGS_MAX} lines at most, all of them posted or none; split it`;
    return { problems: [{ line: OPENINGS_MAX + 2, detail }] };
  }
  const openings: OpeningBalance[] = [];
  const problems: LineProblem[] = [];
  const seen = new Map<string, number>();
  for (const [place, content] of lines.slice(1).entries()) {
    const line = place + 2;
    const opening = readLine(line, content);
    if (typeof opening === 'string') {
      problems.push({ line, detail: opening });
      continue;
    }
    const account = JSON.stringify([opening.book, opening.merchantId, opening.customerRef, opening.asset]);
    const before = seen.get(account);
    if (before !== undefined) problems.push({ line, detail: `the account of line ${before} stands here again` });
    seen.set(account, line);
    openings.push(opening);
  }
  return problems.length > 0 ? { problems } : openings;
}

function readLine(line: number, content: string): OpeningBalance | string {
  const fields = fieldsOf(content);
  if (fields === null) return 'a quotation mark is out of place';
  if (fields.length !== 5) return `there are ${fields.length} fields, not 5`;
  const [bookText, ownerText = '', assetText = '', amountText, reference = ''] = fields;
  const book = BOOKS.find((each) => each === bookText);
  if (!book) return `the book must be ${BOOKS.join(' or ')}`;
  const [, merchantId, customerRef = null] = OWNER.exec(ownerText) ?? [];
  if (merchantId === undefined) return 'the owner must be mer_… or mer_…/<the merchant’s name for his customer>';
  const asset = findAsset(assetText);
  if (!asset) return 'the asset is not listed';
  const amount = parseAmount(amountText, asset.decimals);
  if (amount === 'too_precise') return `the amount has more than ${asset.decimals} decimals`;
  if (amount === 'out_of_range') return 'the amount is larger than an account can hold';
  if (amount === 'grammar') return 'the amount must be a decimal number such as 25.00, without sign or spaces';
  if (amount === 0n) return 'the amount must be above zero';
  if ([...reference].length > REFERENCE_CHARACTERS_MAX) {
    return `the reference has more than ${REFERENCE_CHARACTERS_MAX} characters`;
  }
  return { line, book, merchantId, customerRef, asset: asset.code, amount, reference: reference || null };
}

/** Fields of one line; one that holds a comma or a quotation mark stands in quotation marks, and doubles them. */
function fieldsOf(content: string): string[] | null {
  const fields: string[] = [];
  for (let rest: string | undefined = content; rest !== undefined; ) {
    const match: RegExpExecArray | null = /^(?:"((?:[^"]|"")*)"|([^",]*))(?:,([\s\S]*))?$/.exec(rest);
    if (!match) return null;
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    rest = match[3];
  }
  return fields;
}
