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
  /** Since when (ms since 1970) the provider has shown nothing; carried into a fresh run. */
  absentSince?: number | null;
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
  /** Where the run before stood, when this one goes on from it. */
  resumed?: { known: DepositAddressTry; tries: number; looks: number };
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
  /** Which of the calls with this key it was: random. Histories of before have none. */
  callId?: string;
}

/** Memo of a run that answers for a call: can be read although no worker has taken the run up. */
export type RequestMemo = Pick<RequestInput, 'fingerprint' | 'callId'>;

/** A refusal that a key keeps for ever (402, 409). */
export interface Refusal {
  code: string;
  detail: string;
}

/** Answer of the `accepted` update: what the key led to. The gateway compares the fingerprint. */
export interface Accepted {
  fingerprint: string;
  /** The call that began the run; every other one has joined it. */
  callId?: string | undefined;
  resource: { type: string; id: string; made: boolean } | null;
  refusal: Refusal | null;
}

export interface DepositReconcileInput {
  book: 'live' | 'test';
  provider: 'custody';
  account: string;
}

/** Input of the `issuance` workflow: the whole request, so that the run finishes without its caller. */
export interface IssuanceInput {
  book: 'live' | 'test';
  provider: 'issuer';
  account: string;
  merchantId: string;
  request: RequestInput;
  cardholderId: string;
  product: 'instant' | 'async';
  asset: string;
  /** Minor units, as text. */
  load: string;
  traceId: string;
  /** How often a person has issued this card anew; 0 for the request's own run. */
  generation: number;
  /** The issuance, when its row is there already: issued again, or its workflow was lost. */
  issuanceId?: string;
  /** Where the run before stood, when this one goes on from it. */
  resumed?: { seen: IssuanceSeen; tries: number; looks: number; runId: string };
}

/** What was reserved: the answer for the caller, and the issuance to be followed (null for a refusal). */
export interface IssuanceReserved {
  accepted: Accepted;
  issuanceId: string | null;
}

/** Where an issuance stands and what comes next. */
export interface IssuanceSeen {
  state: string;
  /** `create`: nothing was sent, so the one create may be; `look`: read it; `end`: nothing is left to follow. */
  next: 'create' | 'look' | 'end';
  cardId: string;
  merchantId: string;
  reason: string | null;
  needsOperator: boolean;
  /** Milliseconds until the next try or look; null: at once. */
  waitMs: number | null;
}

/** Type of the failure of a create of which nothing was sent; its one detail: milliseconds until it may be. */
export const NOTHING_SENT = 'NothingSent';

/** Which issuance, for a read of it. */
export interface IssuanceRef {
  book: 'live' | 'test';
  provider: 'issuer';
  account: string;
  /** Our id of the issuance, or (of a notification) the issuer's id of the card. */
  ref: string;
  traceId: string;
}

export interface IssuanceReconcileInput {
  book: 'live' | 'test';
  provider: 'issuer';
  account: string;
}

/** Counts of one turn over the issuances that wait; never bodies. */
export interface IssuancePages {
  read: number;
  changed: number;
  failed: number;
  /** The last id that was looked at; null when the end was reached. */
  after: string | null;
}

/** Input of the `cardLoad` workflow: the whole request, so that the run finishes without its caller. */
export interface CardLoadInput {
  book: 'live' | 'test';
  provider: 'issuer';
  account: string;
  merchantId: string;
  request: RequestInput;
  cardId: string;
  asset: string;
  /** Minor units, as text. */
  amount: string;
  traceId: string;
  /** Where the run before stood, when this one goes on from it. */
  resumed?: { loadId: string; seen: CardLoadSeen; tries: number };
}

/** What was set aside: the answer for the caller, and the load to be made (null for a refusal). */
export interface CardLoadReserved {
  accepted: Accepted;
  loadId: string | null;
}

/** Where a load stands and what comes next: `create`, under the same reference as before, or the `end`. */
export interface CardLoadSeen {
  state: string;
  next: 'create' | 'end';
  merchantId: string;
  reason: string | null;
  needsOperator: boolean;
  /** Milliseconds until the next try; null: at once. */
  waitMs: number | null;
}

/** Input of the `cardChange` workflow: which change of which card is told to the issuer. */
export interface CardChangeInput {
  book: 'live' | 'test';
  provider: 'issuer';
  account: string;
  merchantId: string;
  cardId: string;
  number: number;
  traceId: string;
  /** Tries of the runs before this one. */
  tries?: number;
}

/** `tell` it; `wait`, for an older one is not done or the issuer did not take it; or its `end`. */
export interface CardChangeSeen {
  /** `confirmed`, `superseded`, or `waiting`. */
  state: string;
  next: 'tell' | 'wait' | 'end';
  kind: string;
  needsOperator: boolean;
  /** Milliseconds until the next look. */
  waitMs: number;
}

/** Search attributes of every workflow that follows a subject (DESIGN 6); all Keyword but the last, a Bool. */
export const SEARCH_ATTRIBUTES = {
  kind: 'SverkaKind',
  state: 'SverkaState',
  merchant: 'SverkaMerchant',
  ref: 'SverkaRef',
  book: 'SverkaBook',
  needsOperator: 'SverkaNeedsOperator',
} as const;

/** What one read of a deposit came to, for the workflow that follows it. */
export interface DepositSeen {
  /** A deposit's state, or `not_found` (the provider shows nothing yet) or `unmatched` (an address not ours). */
  state: string;
  depositId: string | null;
  merchantId: string | null;
  reason: string | null;
  needsOperator: boolean;
  /** True when there is nothing left to follow. */
  ended: boolean;
  /** Milliseconds until the next look; null waits for a nudge alone. */
  waitMs: number | null;
}

/** What a try to make a deposit address came to. */
export interface DepositAddressTry {
  /** `not_sent`: proven that nothing was made, try again; `unknown`: perhaps made, look it up; `absent`: not shown. */
  outcome: 'active' | 'failed' | 'not_sent' | 'unknown' | 'absent';
  /** Of the address, now. */
  state: string;
  needsOperator: boolean;
  merchantId: string;
  /** Milliseconds until the next try or look. */
  waitMs: number;
  /** Only with `absent`: the same create may be sent again, since the provider knows our reference. */
  mayCreateAgain: boolean;
}

/** Counts of one turn over a custodian's changes; never bodies. */
export interface DepositPages {
  pages: number;
  items: number;
  changed: number;
  unmatched: number;
  unreadable: number;
  /** True when the feed was not read to its end. */
  more: boolean;
}

/** What one part of the sweep found in a turn. */
export interface SweptPart {
  /** There was more than one turn takes. */
  full: boolean;
  claimed: number;
  /** Deposits whose workflow is closed: read by the sweep itself (R13). */
  closed: DepositInput[];
  /** The same of cards. */
  closedCards?: IssuanceRef[];
  /** Payouts that no withdrawal is known to wait for. */
  payouts?: PayoutRef[];
}

/** How a turn of the sweep went. */
export interface SweepTurn {
  /** Milliseconds since 1970. */
  beganAt: number;
  /** Names of the parts that failed. */
  failed: string[];
  full: boolean;
  traceId: string;
}

/** Input of the `withdrawal` workflow: the row is the truth, so its id is all. */
export interface WithdrawalInput {
  book: 'live' | 'test';
  id: string;
  merchantId: string;
  traceId: string;
  /** Where the run before stood. `unsentOf`: that run, which has sent nothing. */
  resumed?: { looks: number; told: number; unsentOf: string | null };
}

/** Which payout, for a read of it by the custodian's id. */
export type PayoutRef = Pick<DepositInput, 'book' | 'account' | 'ref' | 'traceId'>;

/** Where a withdrawal stands and what comes next. */
export interface WithdrawalSeen {
  state: string;
  merchantId: string;
  reason: string | null;
  route: string | null;
  needsOperator: boolean;
  /** `prove`: decide once the transaction of a proof is read; `submit`, `create`: by the custodian; `look`: ask him. */
  next: 'wait' | 'tell' | 'decide' | 'prove' | 'submit' | 'create' | 'look' | 'end';
  /** Milliseconds until that; null: at once. Of `wait` and `end` there is no time. */
  waitMs: number | null;
}
