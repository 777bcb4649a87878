import type { CreateDeclarations } from '../creates.js';
import { ProviderError } from '../errors.js';
import { type CallContext, createHttpCaller, type HttpCall } from '../http-call.js';
import { isProviderId } from '../strict-json.js';
import {
  type ClosedIssuerCard,
  type IssuerBalance,
  type IssuerCard,
  type IssuerEventPage,
  idOf,
  type Parsed,
  parseClosedIssuerCard,
  parseIssuerBalances,
  parseIssuerCard,
  parseIssuerCardList,
  parseIssuerEventPage,
} from './schema.js';

const PROVIDER = 'issuer';

/**
 * What a lost answer of each create means. A second `createCard` makes a second card, and a new one may be missing from
 * reads for 3 s. A load is kept under its reference; freeze, unfreeze and close set a state, so they may be repeated.
 */
export const ISSUER_CREATES = {
  createCard: { idempotentByReference: false, lookupLagMs: 3_000 },
  createLoad: { idempotentByReference: true, lookupLagMs: 0 },
  createFreeze: { idempotentByReference: true, lookupLagMs: 0 },
  createUnfreeze: { idempotentByReference: true, lookupLagMs: 0 },
  createClose: { idempotentByReference: true, lookupLagMs: 0 },
} as const satisfies CreateDeclarations;

/** Identity in clear. It lives inside the issuing call alone: never log, store or throw it. */
export interface IssuerHolder {
  readonly firstName: string;
  readonly lastName: string;
  /** `YYYY-MM-DD` */
  readonly birthDate: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly document: string;
}

export interface IssuerCardRequest {
  /** Our own name for it: the issuance. */
  readonly reference: string;
  readonly product: string;
  readonly holder: IssuerHolder;
  /** A decimal string in the asset's unit. */
  readonly load: { readonly amount: string; readonly asset: string };
}

export interface IssuerClient {
  /**
   * Makes a card, each time it is called. Answers it also as `pending` (made later) and `declined` (never made). What
   * it says of product and load is the caller's to compare. A 409 is a `conflict`, which proves nothing.
   */
  createCard(request: IssuerCardRequest, context?: CallContext): Promise<IssuerCard>;
  /** The card as it stands now, or null when the issuer does not show it (yet). */
  readCard(id: string, context?: CallContext): Promise<IssuerCard | null>;
  /** Every card that the issuer shows under our reference: more than one where a create was repeated. */
  readCardsByReference(reference: string, context?: CallContext): Promise<readonly IssuerCard[]>;
  /** Puts money on a card, once for each reference; `rejected` when the card or the reference does not allow it. */
  createLoad(
    cardId: string,
    load: { readonly reference: string; readonly amount: string },
    context?: CallContext,
  ): Promise<IssuerCard>;
  createFreeze(cardId: string, context?: CallContext): Promise<IssuerCard>;
  createUnfreeze(cardId: string, context?: CallContext): Promise<IssuerCard>;
  /** Closes a card for ever and answers what was left on it. */
  createClose(cardId: string, context?: CallContext): Promise<ClosedIssuerCard>;
  /** Events after the cursor (null: from the beginning), oldest first; `limit` 1 to 500. */
  readEvents(
    page: { readonly after: string | null; readonly limit: number },
    context?: CallContext,
  ): Promise<IssuerEventPage>;
  /** What the issuer holds for us, by asset; decimal strings, with a sign where it is below zero. */
  readBalances(context?: CallContext): Promise<readonly IssuerBalance[]>;
  close(): Promise<void>;
}

type Call = Omit<HttpCall, 'operation'>;

/** Calls to one account at the issuer. Each throws a ProviderError, none retries; `timeoutMs` is for a whole call. */
export function createIssuerClient(options: { url: string; apiKey: string; timeoutMs: number }): IssuerClient {
  const { url, apiKey, timeoutMs } = options;
  const http = createHttpCaller({ provider: PROVIDER, url, timeoutMs, headers: { authorization: `Bearer ${apiKey}` } });
  const read = async (operation: string, call: Omit<Call, 'method' | 'expect'>): Promise<unknown> =>
    (await http.call({ operation, method: 'GET', expect: [200], ...call })).body;
  const create = async (operation: string, call: Omit<Call, 'method' | 'freshConnection'>): Promise<unknown> =>
    (await http.call({ operation, method: 'POST', freshConnection: true, ...call })).body;
  /** One of the calls below a card; its answer is that card. */
  const change = async <Card extends IssuerCard>(
    operation: string,
    of: { id: string; what: string; body?: object; parse: (body: unknown) => Parsed<Card> },
    context: CallContext | undefined,
  ): Promise<Card> => {
    if (!isProviderId(of.id)) throw new ProviderError({ kind: 'not_found', provider: PROVIDER, operation });
    const path = `${cardPath(of.id)}/${of.what}`;
    const answer = await create(operation, { path, expect: [200], context, ...(of.body ? { body: of.body } : {}) });
    return sameCard(operation, of.id, recordOf(operation, of.parse(answer)));
  };
  return {
    async createCard({ reference, product, holder, load }, context) {
      const operation = 'createCard';
      const body = { reference, product, holder: toWire(holder), load: { amount: load.amount, asset: load.asset } };
      const expect = [201, 202];
      const answer = await create(operation, { path: '/v1/cards', body, expect, conflictProvesNothing: true, context });
      const card = recordOf(operation, parseIssuerCard(answer));
      if (card.reference !== reference) throw garbage(operation, 'reference: another than asked for');
      return card;
    },
    async readCard(id, context) {
      const operation = 'readCard';
      if (!isProviderId(id)) return null;
      const answer = await read(operation, { path: cardPath(id), context }).catch(nullWhenNotFound);
      if (answer === null) return null;
      const card = parseIssuerCard(answer);
      // The issuer is well when the record asked for is there and merely has a member we cannot read.
      if (!card.ok) throw garbage(operation, card.reason, { countsForBreaker: idOf(answer, 'id') !== id });
      return sameCard(operation, id, card.record);
    },
    async readCardsByReference(reference, context) {
      const operation = 'readCardsByReference';
      const answer = await read(operation, { path: '/v1/cards', query: { reference }, context });
      return recordOf(operation, parseIssuerCardList(answer)).filter((card) => card.reference === reference);
    },
    createLoad(id, { reference, amount }, context) {
      const body = { reference, amount };
      return change('createLoad', { id, what: 'loads', body, parse: parseIssuerCard }, context);
    },
    createFreeze: (id, context) => change('createFreeze', { id, what: 'freeze', parse: parseIssuerCard }, context),
    createUnfreeze(id, context) {
      return change('createUnfreeze', { id, what: 'unfreeze', parse: parseIssuerCard }, context);
    },
    createClose: (id, context) => change('createClose', { id, what: 'close', parse: parseClosedIssuerCard }, context),
    async readEvents({ after, limit }, context) {
      const query = { after: after ?? undefined, limit };
      return recordOf(
        'readEvents',
        parseIssuerEventPage(await read('readEvents', { path: '/v1/events', query, context })),
      );
    },
    async readBalances(context) {
      return recordOf(
        'readBalances',
        parseIssuerBalances(await read('readBalances', { path: '/v1/balances', context })),
      );
    },
    close: () => http.close(),
  };
}

function cardPath(id: string): string {
  return `/v1/cards/${encodeURIComponent(id)}`;
}

function toWire(holder: IssuerHolder): object {
  const { firstName, lastName, birthDate, country, document } = holder;
  return { first_name: firstName, last_name: lastName, birth_date: birthDate, country, document };
}

function nullWhenNotFound(error: unknown): null {
  if (error instanceof ProviderError && error.kind === 'not_found') return null;
  throw error;
}

function sameCard<Card extends IssuerCard>(operation: string, id: string, card: Card): Card {
  if (card.id !== id) throw garbage(operation, 'id: another than asked for');
  return card;
}

function recordOf<T>(operation: string, parsed: Parsed<T>): T {
  if (!parsed.ok) throw garbage(operation, parsed.reason);
  return parsed.record;
}

function garbage(operation: string, reason: string, extra: { countsForBreaker?: boolean } = {}): ProviderError {
  return new ProviderError({ kind: 'garbage', provider: PROVIDER, operation, reason, ...extra });
}
