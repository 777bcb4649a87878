import type { CreateDeclarations } from '../creates.js';
import { ProviderError } from '../errors.js';
import { type CallContext, createHttpCaller } from '../http-call.js';
import { isProviderId } from '../strict-json.js';
import {
  type CustodyAddress,
  type CustodyDeposit,
  type CustodyDepositPage,
  type CustodyPayout,
  type CustodyTransfer,
  idOf,
  type Parsed,
  parseCustodyAddress,
  parseCustodyAddressList,
  parseCustodyDeposit,
  parseCustodyDepositPage,
  parseCustodyPayout,
  parseCustodyPayoutList,
  parseCustodyTransfer,
} from './schema.js';

const PROVIDER = 'custody';

/** What a lost answer of each create means; the lag is the custodian's word for payouts, taken for addresses too. */
export const CUSTODY_CREATES = {
  createAddress: { idempotentByReference: true, lookupLagMs: 2_000 },
  createPayout: { idempotentByReference: false, lookupLagMs: 2_000 },
} as const satisfies CreateDeclarations;

export interface CustodyAddressRequest {
  /** Our own name for it; a repeated call with it makes nothing new. */
  readonly reference: string;
  readonly network: string;
  readonly asset: string;
  /** Currency that deposits are settled in, or null to take them as the token. */
  readonly settleIn: string | null;
}

export interface CustodyPayoutRequest {
  /** Our own name for it: the withdrawal. */
  readonly reference: string;
  readonly network: string;
  readonly asset: string;
  readonly address: string;
  readonly tag: string | null;
  /** A decimal string in the asset's unit. */
  readonly amount: string;
}

export interface CustodyClient {
  /** The deposit as it stands now; throws `not_found` when the custodian does not show it (yet). */
  readDeposit(id: string, context?: CallContext): Promise<CustodyDeposit>;
  /** Deposits that changed after the cursor (null: from the beginning), oldest change first; `limit` 1 to 200. */
  readDepositChanges(
    page: { readonly after: string | null; readonly limit: number },
    context?: CallContext,
  ): Promise<CustodyDepositPage>;
  /** The address made under our reference, or null when none is shown. */
  readAddressByReference(reference: string, context?: CallContext): Promise<CustodyAddress | null>;
  /** Makes an address, or answers the one made before under the same reference; `rejected` when that one differs. */
  createAddress(request: CustodyAddressRequest, context?: CallContext): Promise<CustodyAddress>;
  /** Pays, each time it is called. A 409 is a `conflict`, which proves nothing. */
  createPayout(request: CustodyPayoutRequest, context?: CallContext): Promise<CustodyPayout>;
  /** The payout of that id, or null when the custodian does not show it (yet). */
  readPayout(id: string, context?: CallContext): Promise<CustodyPayout | null>;
  /** Every payout shown under our reference: more than one where a create was repeated. */
  readPayoutsByReference(reference: string, context?: CallContext): Promise<readonly CustodyPayout[]>;
  /** An outgoing transfer by the hash of its transaction, or null when none is shown. */
  readTransfer(txHash: string, context?: CallContext): Promise<CustodyTransfer | null>;
  close(): Promise<void>;
}

/** Calls to one custody account. Each throws a ProviderError, none retries; `timeoutMs` is for a whole call. */
export function createCustodyClient(options: { url: string; apiKey: string; timeoutMs: number }): CustodyClient {
  const { url, apiKey, timeoutMs } = options;
  const http = createHttpCaller({ provider: PROVIDER, url, timeoutMs, headers: { authorization: `Bearer ${apiKey}` } });
  return {
    async readDeposit(id, context) {
      const operation = 'readDeposit';
      if (!isDepositId(id)) throw new ProviderError({ kind: 'not_found', provider: PROVIDER, operation });
      const path = `/v1/deposits/${encodeURIComponent(id)}`;
      const { body } = await http.call({ operation, method: 'GET', path, expect: [200], context });
      const deposit = parseCustodyDeposit(body);
      // The custodian is well when the record asked for is there and merely has a member we cannot read.
      if (!deposit.ok) throw garbage(operation, deposit.reason, { countsForBreaker: idOf(body) !== id });
      if (deposit.record.id !== id) throw garbage(operation, 'id: another than asked for');
      return deposit.record;
    },
    async readDepositChanges({ after, limit }, context) {
      const operation = 'readDepositChanges';
      const query = { after: after ?? undefined, limit };
      const path = '/v1/deposits/changes';
      const { body } = await http.call({ operation, method: 'GET', path, query, expect: [200], context });
      return recordOf(operation, parseCustodyDepositPage(body));
    },
    async readAddressByReference(reference, context) {
      const operation = 'readAddressByReference';
      const path = '/v1/addresses';
      const { body } = await http.call({
        operation,
        method: 'GET',
        path,
        query: { reference },
        expect: [200],
        context,
      });
      const list = recordOf(operation, parseCustodyAddressList(body));
      const found = list.filter((address) => address.reference === reference);
      if (found.length > 1) throw garbage(operation, 'items: several addresses under one reference');
      return found[0] ?? null;
    },
    async createAddress(request, context) {
      const operation = 'createAddress';
      const { reference, network, asset, settleIn } = request;
      const { body } = await http.call({
        operation,
        method: 'POST',
        path: '/v1/addresses',
        body: { reference, network, asset, settle_in: settleIn },
        expect: [200, 201],
        freshConnection: true,
        context,
      });
      const address = recordOf(operation, parseCustodyAddress(body));
      const other = (['reference', 'network', 'asset', 'settleIn'] as const).find(
        (key) => address[key] !== request[key],
      );
      if (other) throw garbage(operation, `${other}: another than asked for`);
      return address;
    },
    ...createPayoutCalls(http),
    close: () => http.close(),
  };
}

type PayoutCalls = Pick<CustodyClient, 'createPayout' | 'readPayout' | 'readPayoutsByReference' | 'readTransfer'>;

function createPayoutCalls(http: ReturnType<typeof createHttpCaller>): PayoutCalls {
  const readOrNull = async <T>(call: () => Promise<T>): Promise<T | null> => {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'not_found') return null;
      throw error;
    }
  };
  const get = (operation: string, path: string, context: CallContext | undefined) =>
    http.call({ operation, method: 'GET', path, expect: [200], context });
  return {
    async createPayout(request, context) {
      const operation = 'createPayout';
      const { body } = await http.call({
        operation,
        method: 'POST',
        path: '/v1/payouts',
        body: request,
        expect: [202],
        freshConnection: true,
        conflictProvesNothing: true,
        context,
      });
      const payout = recordOf(operation, parseCustodyPayout(body));
      if (payout.reference !== request.reference) throw garbage(operation, 'reference: another than asked for');
      return payout;
    },
    async readPayout(id, context) {
      const operation = 'readPayout';
      if (!isProviderId(id)) return null;
      return readOrNull(async () => {
        const { body } = await get(operation, `/v1/payouts/${encodeURIComponent(id)}`, context);
        const payout = recordOf(operation, parseCustodyPayout(body));
        if (payout.id !== id) throw garbage(operation, 'id: another than asked for');
        return payout;
      });
    },
    async readPayoutsByReference(reference, context) {
      const operation = 'readPayoutsByReference';
      const query = { reference };
      const { body } = await http.call({
        operation,
        method: 'GET',
        path: '/v1/payouts',
        query,
        expect: [200],
        context,
      });
      return recordOf(operation, parseCustodyPayoutList(body)).filter((payout) => payout.reference === reference);
    },
    async readTransfer(txHash, context) {
      const operation = 'readTransfer';
      return readOrNull(async () => {
        const { body } = await get(operation, `/v1/transfers/${encodeURIComponent(txHash)}`, context);
        const transfer = recordOf(operation, parseCustodyTransfer(body));
        if (transfer.txHash !== txHash) throw garbage(operation, 'tx_hash: another than asked for');
        return transfer;
      });
    },
  };
}

// A path segment that would lead to another route names no deposit.
function isDepositId(id: string): boolean {
  return isProviderId(id) && id !== 'changes';
}

function recordOf<T>(operation: string, parsed: Parsed<T>): T {
  if (!parsed.ok) throw garbage(operation, parsed.reason);
  return parsed.record;
}

function garbage(operation: string, reason: string, extra: { countsForBreaker?: boolean } = {}): ProviderError {
  return new ProviderError({ kind: 'garbage', provider: PROVIDER, operation, reason, ...extra });
}
