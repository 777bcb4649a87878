import { findApiKeyListing, listAllApiKeys } from '../../db/api-keys-listing.js';
import { type ApiKeyListing, createApiKey, findMerchant, revokeApiKey } from '../../db/merchants.js';
import type { Tx } from '../../db/transaction.js';
import type { Book } from '../../domain/books.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type Context } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { machineAuthor } from '../machine-author.js';
import { type Cell, type Column, utc } from '../output.js';
import { type ApiKeyResource, answerDryRun, toApiKey } from '../resources.js';

/** A key of the book in which no money is real, unless the caller says otherwise. */
const BOOK_DEFAULT: Book = 'test';

export const KEY_COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'MERCHANT' },
  { title: 'BOOK' },
  { title: 'ACCESS' },
  { title: 'CREATED (UTC)' },
  { title: 'REVOKED (UTC)' },
];

export const createKeyCommand: Command = {
  path: ['keys', 'create'],
  summary: 'make an API key of one merchant and one book; it is printed this once',
  args: [{ name: '<merchant>', description: 'mer_…' }],
  options: [{ flags: '--read-only', description: 'a key that may only read' }],
  examples: ['keys create mer_01kb… --book live', 'keys create mer_01kb… --book test --read-only --json'],
  async run(context, input) {
    const { out, flags } = context;
    const db = context.db();
    const merchantId = argument(input, 0);
    if ((await findMerchant(db, merchantId)) === null) {
      throw new CliFailure('notFound', 'There is no such merchant. `sverka merchants list` shows all.');
    }
    const book = flags.book ?? BOOK_DEFAULT;
    const access = input.options['readOnly'] === true ? 'read_only' : 'full';
    const what = `${access === 'full' ? 'full' : 'read-only'} ${book} key`;
    if (flags.dryRun) return answerDryRun(context, `make a ${what} for ${merchantId}`, null);
    const { id, secret } = await createApiKey(db, { merchantId, book, access }, machineAuthor());
    const made = toApiKey(await requireKey(db, id), secret);
    out.result(made, () => {
      out.line(`${out.mark.good('Made')} ${id}, a ${what} of ${merchantId}:`);
      out.line(`\n  ${secret}\n`);
      out.line('Keep it now: only its SHA-256 is stored, and it is never shown again.');
    });
    return EXIT.done;
  },
};

export const listKeysCommand: Command = {
  path: ['keys', 'list'],
  summary: 'keys, newest first, revoked ones too; never the keys themselves',
  args: [{ name: '[merchant]', description: 'mer_…; all merchants without it' }],
  examples: ['keys list', 'keys list mer_01kb… --book live'],
  async run(context, input) {
    const merchantId = input.args[0] ?? null;
    const db = context.db();
    if (merchantId !== null && (await findMerchant(db, merchantId)) === null) {
      throw new CliFailure('notFound', 'There is no such merchant. `sverka merchants list` shows all.');
    }
    return answerList(context, {
      scope: ['keys', 'list', merchantId ?? ''],
      find: (page) => listAllApiKeys(db, { merchantId, book: context.flags.book }, page),
      show: (record) => toApiKey(record),
      position: (record) => record.id,
      columns: KEY_COLUMNS,
      cells: (key) => keyCells(context, key),
    });
  },
};

export const revokeKeyCommand: Command = {
  path: ['keys', 'revoke'],
  summary: 'refuse a key from now on; cannot be undone',
  args: [{ name: '<id>', description: 'key_…, not the key itself' }],
  examples: ['keys revoke key_01kb…', 'keys revoke key_01kb… --yes --json'],
  async run(context, input) {
    const { out, flags } = context;
    const db = context.db();
    const key = await requireKey(db, argument(input, 0));
    const what = `${key.id} (${key.access === 'full' ? 'full' : 'read-only'}, ${key.book}, of ${key.merchantId})`;
    if (flags.dryRun) {
      const would = key.revokedAt === null ? `revoke ${what}` : `change nothing: ${key.id} was revoked before`;
      return answerDryRun(context, would, toApiKey(key));
    }
    if (key.revokedAt === null && !(await context.confirm(`Revoke ${what}? Its callers are refused at once.`))) {
      throw new CliFailure('interrupted', 'Nothing was revoked.');
    }
    await revokeApiKey(db, key.id, machineAuthor());
    const revoked = toApiKey(await requireKey(db, key.id));
    out.result(revoked, () => {
      const since = `since ${utc(revoked.revoked_at)} UTC`;
      out.line(key.revokedAt === null ? `${out.mark.good('Revoked')} ${what}.` : `It was revoked before, ${since}.`);
    });
    return EXIT.done;
  },
};

export function keyCells({ out }: Context, key: ApiKeyResource): readonly Cell[] {
  const revoked = key.revoked_at === null ? '–' : { text: utc(key.revoked_at), mark: out.mark.dim };
  return [key.id, key.merchant_id, key.book, key.access, utc(key.created_at), revoked];
}

async function requireKey(db: Tx, id: string): Promise<ApiKeyListing> {
  // A pasted key must not travel into a query, a log of it, or an answer.
  if (/^sk_/.test(id)) {
    throw new CliFailure('usage', 'Name the id (key_…), never the key itself. `sverka keys list` shows the ids.');
  }
  const found = await findApiKeyListing(db, id);
  if (found === null) throw new CliFailure('notFound', 'There is no such key. `sverka keys list` shows all.');
  return found;
}
