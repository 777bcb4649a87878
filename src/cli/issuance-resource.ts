import { type CardResource, type IssuanceRecord, toIssuance } from '../contracts/card.js';
import { toTime } from '../contracts/values.js';
import type { IssuanceChoice } from '../domain/issuance-decision.js';
import { utc } from './output.js';

/** An issuance as the command line shows it: as in the API's card, with what stands beside it there. */
export interface IssuanceResource extends Omit<CardResource['issuance'], 'movement_ids'> {
  readonly object: 'issuance';
  readonly book: string;
  readonly merchant_id: string;
  readonly card_id: string;
  readonly cardholder_id: string;
  readonly product: string;
  readonly movement_ids: readonly string[];
  readonly provider: string;
  readonly provider_account: string;
  readonly provider_ref: string | null;
  /** The issuer's own words. */
  readonly provider_status: string | null;
  readonly decline_reason: string | null;
  readonly flag: string | null;
  readonly contradiction: string | null;
  readonly accepted_contradiction: string | null;
  readonly needs_operator: boolean;
  /** How often an answer of the issuer about it was applied. */
  readonly looks: number;
  /** Since it was made, and since it was last read; null when it never was. */
  readonly age_ms: number;
  readonly unread_ms: number | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export function toIssuanceResource(record: IssuanceRecord, now: number = Date.now()): IssuanceResource {
  return {
    object: 'issuance',
    ...toIssuance(record),
    book: record.book,
    merchant_id: record.merchantId,
    card_id: record.cardId,
    cardholder_id: record.cardholderId,
    product: record.product,
    provider: record.provider,
    provider_account: record.providerAccount,
    provider_ref: record.providerRef,
    provider_status: record.providerStatus,
    decline_reason: record.declineReason,
    flag: record.flag,
    contradiction: record.contradiction,
    accepted_contradiction: record.acceptedContradiction,
    needs_operator: record.needsOperator,
    looks: record.looks,
    age_ms: Math.max(now - record.createdAt.getTime(), 0),
    unread_ms: record.lastReadAt === null ? null : Math.max(now - record.lastReadAt.getTime(), 0),
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
  };
}

/** What a person sees beside the issuance itself before deciding on it. */
export interface Pressing {
  /** The open alert about it. */
  readonly alert: string | null;
  readonly choices: readonly IssuanceChoice[];
}

/** All that the hash of a decision covers, and more; `reason` is the issuance's own, beside the flag. */
export function issuanceFacts(record: IssuanceRecord): (readonly [string, string | null])[] {
  const issuance = toIssuanceResource(record);
  const { unread_ms: unread } = issuance;
  return [
    ['id', issuance.id],
    ['card', `${issuance.card_id}, generation ${issuance.generation}`],
    ['book', issuance.book],
    ['state', issuance.state],
    ['reason', record.reason],
    ['merchant', issuance.merchant_id],
    ['cardholder', issuance.cardholder_id],
    ['product', issuance.product],
    ['load', `${issuance.load.amount} ${issuance.load.asset}`],
    ['fee', `${issuance.fee.amount} ${issuance.fee.asset}`],
    ['provider', `${issuance.provider} ${issuance.provider_account}`],
    ['card there', issuance.provider_ref],
    ['status there', issuance.provider_status],
    ['declined for', issuance.decline_reason],
    ['flag', issuance.flag],
    ['contradiction', issuance.contradiction],
    ['accepted', issuance.accepted_contradiction],
    ['needs a person', issuance.needs_operator ? 'yes' : 'no'],
    ['looks', String(issuance.looks)],
    ['movements', issuance.movement_ids.join(', ') || null],
    ['version', String(issuance.version)],
    ['created', `${utc(issuance.created_at)}, ${spanOf(issuance.age_ms)} ago`],
    ['submitted', utc(issuance.submitted_at)],
    ['last read', unread === null ? null : `${utc(issuance.last_read_at)}, ${spanOf(unread)} ago`],
    ['settled', utc(issuance.settled_at)],
  ];
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** A span for a person, in the largest unit that it has two of: `90s`, `36h`. */
export function spanOf(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= 2 * each) ?? ['s', 1_000];
  return `${Math.floor(ms / size)}${unit}`;
}
