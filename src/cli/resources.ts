import { toTime } from '../contracts/values.js';
import type { ApiKeyListing, MerchantRecord } from '../db/merchants.js';
import type { Book } from '../domain/books.js';
import type { Context } from './command.js';
import { EXIT, type ExitCode } from './failure.js';

/** What the command line shows and API.md 3 does not name, in its style. */
export interface MerchantResource {
  readonly object: 'merchant';
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}

export interface ApiKeyResource {
  readonly object: 'api_key';
  readonly id: string;
  readonly merchant_id: string;
  readonly book: Book;
  readonly access: 'full' | 'read_only';
  /** The key itself, this once: text in the answer that made it, null ever after. */
  readonly key: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

export function toMerchant(record: MerchantRecord): MerchantResource {
  return { object: 'merchant', id: record.id, name: record.name, created_at: toTime(record.createdAt) };
}

export function toApiKey(record: ApiKeyListing, key: string | null = null): ApiKeyResource {
  return {
    object: 'api_key',
    id: record.id,
    merchant_id: record.merchantId,
    book: record.book,
    access: record.access,
    key,
    created_at: toTime(record.createdAt),
    revoked_at: toTime(record.revokedAt),
  };
}

/** Says what would have happened, where nothing did (`--dry-run`). `subject` is what it would have happened to. */
export function answerDryRun(context: Context, would: string, subject: object | null): ExitCode {
  const { out, flags } = context;
  out.result({ object: 'dry_run', would, subject, reason: flags.reason }, () => {
    out.line(`${out.mark.warn('Dry run:')} would ${would}. Nothing was changed.`);
  });
  return EXIT.done;
}
