/**
 * What a failed call to a provider proves. One place decides it, for every provider (DESIGN 6, "Create is not read").
 *
 * - `refused`: no connection was made, so nothing was sent
 * - `unavailable`: 5xx, timeout, cut connection; whether a create happened is unknown
 * - `rate_limited`: 429; nothing was made
 * - `misconfigured`: 401, 403; nothing was made, and only a person can mend it
 * - `rejected`: 400, 409, 422; nothing was made by this call, and the same call will be rejected again
 * - `conflict`: 409 to a create that is not idempotent by our reference: it may speak of what an earlier call made
 * - `not_found`: 404; for a read, "not there now"; for a create it proves nothing
 * - `garbage`: an answer outside the contract; whether a create happened is unknown
 * - `breaker_open`: we did not call at all, because the provider was unwell a moment ago
 */
export const PROVIDER_ERROR_KINDS = [
  'refused',
  'unavailable',
  'rate_limited',
  'misconfigured',
  'rejected',
  'conflict',
  'not_found',
  'garbage',
  'breaker_open',
] as const;
export type ProviderErrorKind = (typeof PROVIDER_ERROR_KINDS)[number];

const PROVES_NOTHING_MADE: ReadonlySet<ProviderErrorKind> = new Set([
  'refused',
  'rate_limited',
  'misconfigured',
  'rejected',
  'breaker_open',
]);
const COUNTS_FOR_BREAKER: ReadonlySet<ProviderErrorKind> = new Set(['refused', 'unavailable', 'garbage']);

const ADVICE: Readonly<Record<ProviderErrorKind, string>> = {
  refused: 'no connection was made and nothing was sent; call again later',
  unavailable: 'no usable answer came; repeat a read, look a create up by its reference',
  rate_limited: 'nothing was made; call again after the time it asks for',
  misconfigured: 'nothing was made; correct the key of this provider and book',
  rejected: 'nothing was made; the same call will be rejected again',
  conflict: 'it proves nothing; look the create up by its reference',
  not_found: 'it is not there now; absence alone decides nothing',
  garbage: 'the answer is outside the contract; repeat a read, look a create up by its reference',
  breaker_open: 'nothing was sent; calls go on by themselves when its probe comes back well',
};

export interface ProviderErrorDetails {
  readonly kind: ProviderErrorKind;
  readonly provider: string;
  /** Name of the client's function, such as `readDeposit`. */
  readonly operation: string;
  /** HTTP status, or null when none came. */
  readonly status?: number | null;
  /** The provider's own error code when it is a plain word (`invalid_reference`), else null. */
  readonly code?: string | null;
  readonly retryAfterMs?: number | null;
  /** Which member or which class of failure, in our words: `ETIMEDOUT`, `amount: not a decimal string`. */
  readonly reason?: string | null;
  /** Overrides the kind's rule: an answer that is fine but for one record says nothing about the provider. */
  readonly countsForBreaker?: boolean;
}

/** A call to a provider that failed. Holds no body, key, host or driver error: it may be logged and kept for ever. */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  readonly provider: string;
  readonly operation: string;
  readonly status: number | null;
  readonly code: string | null;
  /** Milliseconds the provider asks to wait, or null. */
  readonly retryAfterMs: number | null;
  readonly reason: string | null;
  /** True: a create that failed so has made nothing and may be sent again. False: its outcome is unknown. */
  readonly provesNothingMade: boolean;
  /** True: the provider is unwell, and the breaker counts it. */
  readonly countsForBreaker: boolean;

  constructor(details: ProviderErrorDetails) {
    super(messageOf(details));
    this.name = 'ProviderError';
    this.kind = details.kind;
    this.provider = details.provider;
    this.operation = details.operation;
    this.status = details.status ?? null;
    this.code = details.code ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.reason = details.reason ?? null;
    this.provesNothingMade = PROVES_NOTHING_MADE.has(details.kind);
    this.countsForBreaker = details.countsForBreaker ?? (COUNTS_FOR_BREAKER.has(details.kind) && !isClientError(this));
  }
}

/**
 * What an HTTP status outside the expected ones proves: 401 and 403 are a wrong key, 429 a limit, 404 absence,
 * 400, 409, 422 a refusal, 5xx and 408 an outage; anything else is outside every contract and proves nothing.
 */
export function kindOfStatus(status: number): ProviderErrorKind {
  if (status === 401 || status === 403) return 'misconfigured';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limited';
  if (status === 400 || status === 409 || status === 422) return 'rejected';
  if (status === 408 || status >= 500) return 'unavailable';
  return 'garbage';
}

// A 4xx is about this call, not about the provider's health.
function isClientError(error: { status: number | null }): boolean {
  return error.status !== null && error.status >= 400 && error.status < 500;
}

function messageOf(details: ProviderErrorDetails): string {
  const facts = [details.status ? `status ${details.status}` : null, details.code, details.reason].filter(Boolean);
  const shown = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  return `${details.provider} ${details.operation}: ${details.kind}${shown}: ${ADVICE[details.kind]}.`;
}
