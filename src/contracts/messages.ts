/** Names and shapes of what crosses into workflows. Registered names are for ever: `names.test.ts` freezes them. */
export const NUDGE_SIGNAL = 'nudge';
export const ACCEPTED_UPDATE = 'accepted';

/** A nudge says "look"; it carries no facts but the trace it belongs to. */
export interface Nudge {
  traceId: string;
}

/** Input of the `deposit` workflow: which record of which custodian's account. */
export interface DepositInput {
  book: 'live' | 'test';
  provider: 'custody';
  account: string;
  /** The provider's id of the deposit. */
  ref: string;
  traceId: string;
}

/** Input of the `depositAddress` workflow: the whole request, so that the run finishes without its caller. */
export interface DepositAddressInput {
  book: 'live' | 'test';
  provider: 'custody';
  account: string;
  merchantId: string;
  request: RequestInput;
  customerRef: string | null;
  network: string;
  asset: string;
  settlementMode: 'as_token' | 'settled';
  settlementAsset: string | null;
  traceId: string;
}

/** The call that a workflow answers for. */
export interface RequestInput {
  /** `req_…`, derived from book, merchant and key. */
  id: string;
  key: string;
  method: string;
  path: string;
  /** Fingerprint of the call as understood, hex. */
  fingerprint: string;
}

/** A refusal that a key keeps for ever (402, 409). */
export interface Refusal {
  code: string;
  detail: string;
}

/** Answer of the `accepted` update: what the key led to. The gateway compares the fingerprint. */
export interface Accepted {
  fingerprint: string;
  resource: { type: string; id: string; made: boolean } | null;
  refusal: Refusal | null;
}

export interface DepositReconcileInput {
  book: 'live' | 'test';
  provider: 'custody';
  account: string;
}
