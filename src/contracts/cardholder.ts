import { z } from 'zod';
import type { Book } from '../domain/books.js';
import {
  CARDHOLDER_STATES,
  type CardholderState,
  IDENTITY_MEMBERS,
  type IdentityMember,
  initialOf,
  showInitials,
} from '../domain/cardholder.js';
import { isCountry } from '../domain/countries.js';
import { isFreeOfCardNumbers, NO_CARD_NUMBER, toTime } from './values.js';

/** A cardholder as the database keeps him in clear. */
export interface CardholderRecord {
  id: string;
  book: Book;
  merchantId: string;
  revision: number;
  firstInitial: string | null;
  lastInitial: string | null;
  country: string;
  reference: string | null;
  state: CardholderState;
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** All that the API ever shows of him (API.md 3). */
export const cardholderSchema = z.object({
  object: z.literal('cardholder'),
  id: z.string(),
  state: z.enum(CARDHOLDER_STATES),
  version: z.int(),
  revision: z.int().describe('Counts the changes of identity; an issued card keeps the one it was made with.'),
  initials: z.string().nullable().describe('Null once erased.'),
  country: z.string(),
  reference: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type CardholderResource = z.infer<typeof cardholderSchema>;

export function toCardholder(record: CardholderRecord): CardholderResource {
  return {
    object: 'cardholder',
    id: record.id,
    state: record.state,
    version: record.version,
    revision: record.revision,
    initials: showInitials(record.firstInitial, record.lastInitial),
    country: record.country,
    reference: record.reference,
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
  };
}

/** Where a sealed member stands: what seals it and what opens it name the same place. */
export function identityPlace(of: { cardholderId: string; revision: number; member: IdentityMember }) {
  return { table: 'sverka.cardholder_member', row: `${of.cardholderId}/${of.revision}`, column: of.member };
}

const NAME_CHARACTERS_MAX = 100;
const DOCUMENT_CHARACTERS_MAX = 64;
const REFERENCE_CHARACTERS_MAX = 140;
/** Nobody who is issued a card was born before. */
const BIRTH_DATE_MIN = '1900-01-01';

/** Text that a person wrote: no control characters, no half of a character. */
const plainText = (most: number) =>
  z
    .string()
    .max(most, `must have at most ${most} characters`)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), 'must hold no control characters');
const filledText = (most: number) =>
  plainText(most).refine((text) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text), 'must not be empty');

const identityShape = {
  first_name: filledText(NAME_CHARACTERS_MAX),
  last_name: filledText(NAME_CHARACTERS_MAX),
  birth_date: z
    .string()
    .refine(isPastDate, `must be a real date such as 1990-02-28, in the past and not before ${BIRTH_DATE_MIN}`)
    .describe('`YYYY-MM-DD`.'),
  country: z
    .string()
    .refine(isCountry, 'must be a country of ISO 3166-1, two capitals')
    .describe('ISO 3166-1 alpha-2.'),
  document: filledText(DOCUMENT_CHARACTERS_MAX).describe('Number of a passport or identity card.'),
};
const reference = plainText(REFERENCE_CHARACTERS_MAX)
  .refine(isFreeOfCardNumbers, NO_CARD_NUMBER)
  .nullable()
  .optional()
  .describe('Your own name for him, kept and shown in clear: put nothing of his identity here.');

/** The body that makes a cardholder. */
export const cardholderInputSchema = z.strictObject({ ...identityShape, reference });
export type CardholderBody = z.infer<typeof cardholderInputSchema>;

/** The body that changes one: any part. */
export const cardholderPatchSchema = z
  .strictObject({ ...identityShape, reference })
  .partial()
  .refine((body) => Object.keys(body).length > 0, 'must name at least one member');
export type CardholderPatch = z.infer<typeof cardholderPatchSchema>;

/** What a body means: names and document without space around them, in the form in which two spellings are one. */
export function understandCardholder<Body extends CardholderPatch>(body: Body): Body {
  const given = identityOf(body).map(({ member, text }) => [member, text.normalize('NFC').trim()]);
  return { ...body, ...Object.fromEntries(given) };
}

/** The members of the identity that a body names, in their fixed order. */
export function identityOf(body: CardholderPatch): { member: IdentityMember; text: string }[] {
  return IDENTITY_MEMBERS.flatMap((member) => {
    const text = body[member];
    return text === undefined ? [] : [{ member, text }];
  });
}

/** First letters of the names that a body names; null for one that it does not. */
export function initialsOf(body: { first_name: string; last_name: string }): [string, string];
export function initialsOf(body: CardholderPatch): [string | null, string | null];
export function initialsOf({ first_name: first, last_name: last }: CardholderPatch): [string | null, string | null] {
  return [first === undefined ? null : initialOf(first), last === undefined ? null : initialOf(last)];
}

function isPastDate(text: string): boolean {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) || text < BIRTH_DATE_MIN) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) && time + DAY_MS <= Date.now();
}

const DAY_MS = 86_400_000;
