import { createHash } from 'node:crypto';
import { isDecimalString } from '../../domain/money.js';
import { inventId } from '../simulator-kit/invent-id.js';
import { badRequest, membersOf, SimulatorRefusal } from '../simulator-kit/requests.js';

type Members = Readonly<Record<string, unknown>>;

export const PRODUCTS = ['instant', 'async'] as const;
export type Product = (typeof PRODUCTS)[number];

/** Members that whoever drives the simulator may state; any value is taken, also what no honest issuer would send. */
const SETTABLE = [
  'reference',
  'product',
  'status',
  'decline_reason',
  'load',
  'exp_month',
  'exp_year',
  'pan',
  'cvv',
] as const;

/** A card without its number and code, which are made from its id whenever it is shown. */
export interface CardRecord {
  readonly id: string;
  readonly reference: unknown;
  readonly product: unknown;
  readonly status: unknown;
  readonly decline_reason: unknown;
  readonly exp_month: unknown;
  readonly exp_year: unknown;
  readonly load: unknown;
  /** What was stated by `PATCH` in place of the invented ones; never kept over a restart. */
  readonly stated?: { readonly pan?: unknown; readonly cvv?: unknown };
}

export interface CardRequest {
  readonly reference: string;
  readonly product: Product;
  readonly holder: Members;
  readonly load: { readonly amount: string; readonly asset: string };
  /** Why it will be declined: a document that begins with `DECLINE`, and the word after its colon. */
  readonly decline: string | null;
}

const HOLDER_MEMBERS = ['first_name', 'last_name', 'birth_date', 'country', 'document'] as const;
const MAGIC_DECLINE = /^DECLINE(?::([a-z_]{1,64}))?/;
const DECLINE_REASON = 'do_not_honor';
const YEARS_VALID = 3;
/** A range that no bank issues from; with the check digit the number is one that every tool takes for real. */
const NUMBER_PREFIX = '400000';

/** A card request of the wire; refuses with 400 what an issuer would. */
export function readCardRequest(body: Members): CardRequest {
  const { reference, product } = body;
  if (typeof reference !== 'string' || reference === '' || reference.length > 256) {
    throw badRequest('reference must be text of at most 256 characters');
  }
  const known = PRODUCTS.find((each) => each === product);
  if (!known) throw new SimulatorRefusal(400, 'product_not_supported', `products are ${PRODUCTS.join(', ')}`);
  const holder = membersOf(body.holder, 'holder');
  const missing = HOLDER_MEMBERS.find((member) => typeof holder[member] !== 'string' || holder[member] === '');
  if (missing) throw badRequest(`holder.${missing} must be text`);
  const { amount, asset } = membersOf(body.load, 'load');
  if (!isDecimalString(amount)) throw badRequest('load.amount must be a decimal string');
  if (typeof asset !== 'string' || !/^[A-Z][A-Z0-9-]{1,15}$/.test(asset))
    throw badRequest('load.asset must be an asset');
  const magic = MAGIC_DECLINE.exec(String(holder.document));
  const decline = magic ? (magic[1] ?? DECLINE_REASON) : null;
  return { reference, product: known, holder, load: { amount, asset }, decline };
}

/** A card in its first state: `async` is pending, whatever becomes of it later. */
export function newCard({ reference, product, load, decline }: CardRequest): CardRecord {
  const base = { id: inventId('icd'), reference, product, load };
  const nothing = { decline_reason: null, exp_month: null, exp_year: null };
  if (product === 'async') return { ...base, ...nothing, status: 'pending' };
  return { ...base, ...nothing, ...(decline === null ? issued() : declined(decline)) };
}

/** What a pending card becomes. */
export function outcomeOf(decline: string | null): Members {
  return decline === null ? issued() : declined(decline);
}

/** The card with the members that were stated; one that is made active has an expiry, unless it is given. */
export function changedCard(record: CardRecord, body: Members): CardRecord {
  const other = Object.keys(body).find((member) => !SETTABLE.some((known) => known === member));
  if (other) throw badRequest(`a card has no ${other}; known are ${SETTABLE.join(', ')}`);
  const { pan, cvv, ...members } = body;
  const stated = {
    ...record.stated,
    ...(pan === undefined ? {} : { pan }),
    ...(cvv === undefined ? {} : { cvv }),
  };
  const expiry = body.status === 'active' && record.exp_month === null ? expiryFrom(new Date()) : {};
  return { ...record, ...expiry, ...members, ...(Object.keys(stated).length > 0 ? { stated } : {}) };
}

/** The card as it stands on the wire, with its number and its code. */
export function shownCard({ stated, ...record }: CardRecord): Members {
  const made = record.status !== 'pending' && record.status !== 'declined';
  const { id, reference, product, status, decline_reason, exp_month, exp_year, load } = record;
  const secrets = { pan: made ? inventNumber(id) : null, cvv: made ? inventCode(id) : null, ...stated };
  return { id, reference, product, status, decline_reason, ...secrets, exp_month, exp_year, load };
}

/** A card out of a state file. */
export function restoredCard(members: Members): CardRecord {
  const { reference, product, status, decline_reason, exp_month, exp_year, load } = members;
  return { id: String(members.id), reference, product, status, decline_reason, exp_month, exp_year, load };
}

/** The initial load as members, whatever was stated for it. */
export function loadOf({ load }: CardRecord): Members {
  return typeof load === 'object' && load !== null ? membersOf(load, 'load') : {};
}

/** 409: a card in this state does not allow it. */
export function wrongState(status: unknown): SimulatorRefusal {
  const code = status === 'frozen' || status === 'closed' ? `card_${status}` : 'invalid_state';
  return new SimulatorRefusal(409, code, `the card is ${String(status)}`);
}

function issued() {
  return { status: 'active', ...expiryFrom(new Date()) };
}

function declined(reason: string) {
  return { status: 'declined', decline_reason: reason };
}

function expiryFrom(now: Date) {
  return { exp_month: now.getUTCMonth() + 1, exp_year: now.getUTCFullYear() + YEARS_VALID };
}

// From the id, so that no file has to keep it.
function inventNumber(id: string): string {
  const digits = NUMBER_PREFIX + digitsOf(`pan ${id}`, 9);
  const sum = [...digits].reverse().reduce((total, text, place) => {
    const digit = Number(text);
    return total + (place % 2 === 1 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2);
  }, 0);
  return digits + String((10 - (sum % 10)) % 10);
}

function inventCode(id: string): string {
  return digitsOf(`cvv ${id}`, 3);
}

function digitsOf(seed: string, count: number): string {
  const value = BigInt(`0x${createHash('sha256').update(seed).digest('hex')}`);
  return (value % 10n ** BigInt(count)).toString().padStart(count, '0');
}
