import { z } from 'zod';
import { holdsCardNumber, maskCardNumbers } from '../domain/card-numbers.js';

interface ProblemKind {
  readonly status: number;
  readonly retryable: boolean;
  readonly title: string;
  /** Told on the page of the code: what it means and what to do next. */
  readonly meaning: string;
}

/** Every error code of the API (API.md 2). The code is the contract; title and meaning are for people. */
export const PROBLEMS = {
  validation: {
    status: 400,
    retryable: false,
    title: 'The request is not valid',
    meaning:
      'Shape, grammar, an unknown member or parameter, or a named object that does not exist. ' +
      'Each refused field stands in `errors`; correct them and send again.',
  },
  malformed_body: {
    status: 400,
    retryable: false,
    title: 'The body cannot be read',
    meaning: 'The body is not JSON, not UTF-8, not an object, or names a member twice.',
  },
  invalid_cursor: {
    status: 400,
    retryable: false,
    title: 'The cursor does not belong to this list',
    meaning: 'The cursor is not ours, or was made with other filters. Begin again without a cursor.',
  },
  asset_not_supported: {
    status: 400,
    retryable: false,
    title: 'The asset is not supported here',
    meaning: 'The asset is not listed, or not for this route or network.',
  },
  network_not_supported: {
    status: 400,
    retryable: false,
    title: 'The network is not supported',
    meaning: 'The network is not listed. Networks are `ethereum`, `tron` and `bitcoin`.',
  },
  webhook_url_refused: {
    status: 400,
    retryable: false,
    title: 'The webhook address is refused',
    meaning: 'It is not https, or it resolves to an address that is not public. Name a public https address.',
  },
  idempotency_key_missing: {
    status: 400,
    retryable: false,
    title: 'An Idempotency-Key is required',
    meaning: 'The header is absent or outside the grammar `[A-Za-z0-9._:-]{1,128}`.',
  },
  idempotency_key_reused: {
    status: 422,
    retryable: false,
    title: 'This Idempotency-Key was used with another call',
    meaning: 'A key leads to one thing for ever. Use a new key for another call.',
  },
  authentication: {
    status: 401,
    retryable: false,
    title: 'Authentication is required',
    meaning: 'The key is absent, malformed, unknown or revoked. Send `Authorization: Bearer sk_…`.',
  },
  permission: {
    status: 403,
    retryable: false,
    title: 'This key may only read',
    meaning: 'A read-only key was used on a route that writes. Use a full key.',
  },
  not_found: {
    status: 404,
    retryable: false,
    title: 'Not found',
    meaning: 'There is no such path or object for this key.',
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    title: 'This method is not allowed here',
    meaning: 'The header `Allow` names the methods of this path.',
  },
  payload_too_large: {
    status: 413,
    retryable: false,
    title: 'The body is too large',
    meaning: 'The body is over the limit of the route.',
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    title: 'The media type is not supported',
    meaning: 'Send `Content-Type: application/json`, in UTF-8 and without a Content-Encoding.',
  },
  insufficient_funds: {
    status: 402,
    retryable: false,
    title: 'The balance does not cover this',
    meaning:
      'The spendable balance did not cover it; nothing moved. ' +
      'This key keeps this result: after a deposit, use a new key.',
  },
  receivable_outstanding: {
    status: 402,
    retryable: false,
    title: 'The owner owes',
    meaning: 'Money out is refused until what is owed is settled. Bring in what is owed, then use a new key.',
  },
  issuer_declined: {
    status: 402,
    retryable: false,
    title: 'The issuer declined',
    meaning:
      'The issuer said no, definitely, and the hold was released. ' +
      '`detail` names its reason class; use a new key to try again.',
  },
  already_exists: {
    status: 409,
    retryable: false,
    title: 'The name is taken by other content',
    meaning: 'A thing of this natural name exists with other content. Read it, or choose another name.',
  },
  invalid_state: {
    status: 409,
    retryable: false,
    title: 'The state does not allow this',
    meaning: 'The object stands in a state in which this cannot be done; `detail` names it. Read it as it is now.',
  },
  card_frozen: {
    status: 409,
    retryable: false,
    title: 'The card is frozen',
    meaning: 'A frozen card does not allow this. Unfreeze the card, then call again.',
  },
  card_closed: {
    status: 409,
    retryable: false,
    title: 'The card is closed',
    meaning: 'A closed card is closed for ever. Issue another card.',
  },
  cardholder_erased: {
    status: 409,
    retryable: false,
    title: 'The cardholder is erased',
    meaning: 'The identity behind this cardholder is gone for ever. Create a new cardholder.',
  },
  outcome_unknown: {
    status: 409,
    retryable: true,
    title: 'An earlier call has no known outcome yet',
    meaning:
      'We asked the provider for something and do not know yet if it was done. ' +
      'Wait for it, then send the same call again.',
  },
  rate_limited: {
    status: 429,
    retryable: true,
    title: 'Too many requests',
    meaning: 'Wait as long as `Retry-After` says, then send the same call again.',
  },
  internal: {
    status: 500,
    retryable: true,
    title: 'Something went wrong on our side',
    meaning: 'A bug; it says nothing about the effect. Send the same call with the same key again: it is always safe.',
  },
  provider_unavailable: {
    status: 503,
    retryable: true,
    title: 'The provider is not available',
    meaning: 'Refused before anything was reserved or sent. Send the same call again after `Retry-After`.',
  },
  temporarily_unavailable: {
    status: 503,
    retryable: true,
    title: 'Temporarily unavailable',
    meaning: 'Nothing was accepted. Send the same call again after `Retry-After`.',
  },
} as const satisfies Record<string, ProblemKind>;
export type ProblemCode = keyof typeof PROBLEMS;

export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text);
}

const PROBLEM_CODES = Object.keys(PROBLEMS).filter(isProblemCode);

/** One refused field: a JSON Pointer into the body, or `?name`, or the header's name. */
export const fieldErrorSchema = z.object({ pointer: z.string(), detail: z.string() });
export type FieldError = z.infer<typeof fieldErrorSchema>;

/** The body of every error: exactly these members (API.md 2). */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.enum(PROBLEM_CODES),
  trace_id: z.string(),
  retryable: z.boolean(),
  errors: z.array(fieldErrorSchema),
});
export type ProblemBody = z.infer<typeof problemSchema>;

/** The path of a call as a problem names it: what was asked for, but no card number that somebody put there. */
export function toInstance(path: string): string {
  return maskCardNumbers(path);
}

/** True for a name that a stranger chose and that looks like one: only such a name is repeated, in a pointer. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,40}$/.test(name) && !/[0-9]{6}/.test(name) && !holdsCardNumber(name);
}
