/** Prefixes of public ids (API.md 1). The same text is the primary key in the database. */
export const ID_PREFIXES = {
  merchant: 'mer',
  apiKey: 'key',
  user: 'usr',
  customer: 'cus',
  wallet: 'wal',
  movement: 'mov',
  request: 'req',
  depositAddress: 'addr',
  deposit: 'dep',
  cardholder: 'chd',
  card: 'card',
  issuance: 'iss',
  load: 'load',
  withdrawal: 'wd',
  withdrawalDestination: 'wdd',
  withdrawalProof: 'wdp',
  balanceCheck: 'bchk',
  event: 'evt',
  decision: 'dec',
  inbox: 'inb',
  deadLetter: 'dl',
  alert: 'alt',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** `encodeId('deposit', bytes)` is `dep_` and 26 characters of lower-case Crockford base32 over 16 bytes. */
export function encodeId(kind: IdKind, bytes: Uint8Array): string {
  if (bytes.length < 16) throw new Error(`An id needs 16 bytes, not ${bytes.length}.`);
  let value = 0n;
  for (const byte of bytes.subarray(0, 16)) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 26; i += 1) {
    text = ALPHABET[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return `${ID_PREFIXES[kind]}_${text}`;
}

/** The 16 bytes of an id, whatever its prefix: 26 characters are 130 bits, the first two of them zero. */
export function decodeId(id: string): Uint8Array {
  let value = 0n;
  for (const character of id.slice(id.indexOf('_') + 1)) value = (value << 5n) | BigInt(ALPHABET.indexOf(character));
  return Uint8Array.from({ length: 16 }, (_, place) => Number((value >> BigInt(8 * (15 - place))) & 255n));
}

/** True when the text has the shape of an id of that kind; says nothing about whether it exists. */
export function isId(kind: IdKind, text: string): boolean {
  return new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`).test(text);
}

/** Id of a deposit's workflow (DESIGN 6): `deposit:live:custody:<the provider's id>`. */
export function depositWorkflowId(input: { book: string; provider: string; ref: string }): string {
  return `deposit:${input.book}:${input.provider}:${input.ref}`;
}

/** Id of the workflow that makes a deposit address: one per (book, merchant, Idempotency-Key). */
export function depositAddressWorkflowId(input: { book: string; merchantId: string; requestId: string }): string {
  return `deposit-address:${input.book}:${input.merchantId}:${input.requestId.slice(4)}`;
}

/** Id of an issuance's workflow: one per (book, merchant, Idempotency-Key), and one each time a person issues again. */
export function issuanceWorkflowId(input: {
  book: string;
  merchantId: string;
  requestId: string;
  generation: number;
}): string {
  const again = input.generation === 0 ? '' : `:${input.generation}`;
  return `issuance:${input.book}:${input.merchantId}:${input.requestId.slice(4)}${again}`;
}

/** Id of the workflow that loads a card: one per (book, merchant, Idempotency-Key). */
export function cardLoadWorkflowId(input: { book: string; merchantId: string; requestId: string }): string {
  return `card-load:${input.book}:${input.merchantId}:${input.requestId.slice(4)}`;
}

/** Id of the workflow that tells the issuer one change of a card. */
export function cardChangeWorkflowId(input: { book: string; cardId: string; number: number }): string {
  return `card-change:${input.book}:${input.cardId}:${input.number}`;
}

/** Id of a withdrawal's workflow. */
export function withdrawalWorkflowId(input: { book: string; id: string }): string {
  return `withdrawal:${input.book}:${input.id}`;
}

/** Id of the standing workflow that mirrors the balances of an account. */
export function balanceSyncWorkflowId(input: { book: string; account: string }): string {
  return `balance-sync:${input.book}:${input.account}`;
}

/** Id of the schedule that asks again about every issuance which waits. */
export function issuanceReconcileScheduleId(input: { book: string; provider: string }): string {
  return `issuance-reconcile:${input.book}:${input.provider}`;
}

/** Id of the schedule (and prefix of its runs) that pages a custodian's changes. */
export function depositReconcileScheduleId(input: { book: string; provider: string }): string {
  return `deposit-reconcile:${input.book}:${input.provider}`;
}

/** The one standing sweep of the inbox. */
export const INBOX_SWEEP_WORKFLOW_ID = 'inbox-sweep';
/** The one standing look at the health of what there is. */
export const HEALTH_WATCH_WORKFLOW_ID = 'health-watch';
/** Schedules of the books' own checks. */
export const DRIFT_CHECK_SCHEDULE_ID = 'drift-check';
export const FULL_CHECK_SCHEDULE_ID = 'full-check';

/**
 * Our name of an account, and of its webhook endpoint: a mirrored one is shown to merchants, where no other word says
 * which provider it is at.
 */
export function providerAccountName(provider: string, book: 'live' | 'test'): string {
  return provider === 'pert' ? `pert-${book === 'live' ? 'main' : 'test'}` : `main-${book}`;
}

/** Task queue of workflows and database activities; provider calls have one of their own each. */
export function providerTaskQueue(taskQueue: string, provider: string): string {
  return `${taskQueue}-provider-${provider}`;
}

/** Every workflow there is, by the name that Temporal keeps; a bundle without one of them is refused at start. */
export const WORKFLOW_NAMES = [
  'balanceSync',
  'cardChange',
  'cardLoad',
  'deposit',
  'depositAddress',
  'depositReconcile',
  'driftCheck',
  'fullCheck',
  'healthWatch',
  'inboxSweep',
  'issuance',
  'issuanceReconcile',
  'withdrawal',
] as const;
