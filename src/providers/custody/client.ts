import type { CreateDeclarations } from '../creates.js';
import { ProviderError } from '../errors.js';
import { type CallContext, createHttpCaller } from '../http-call.js';
import { isProviderId } from '../strict-json.js';
import {
  type CustodyAddress,
  type CustodyDeposit,
  type CustodyDepositPage,
  idOf,
  type Parsed,
  parseCustodyAddress,
  parseCustodyAddressList,
  parseCustodyDeposit,
  parseCustodyDepositPage,
} from './schema.js';

const PROVIDER = 'custody';

/** What a lost answer of each create means; the lag is the custodian's word for payouts, taken for addresses too. */
export const CUSTODY_CREATES = {
  createAddress: { idempotentByReference: true, lookupLagMs: 2_000 },
} as const satisfies CreateDeclarations;

export interface CustodyAddressRequest {
  /** Our own name for it; a repeated call with it makes nothing new. */
  readonly reference: string;
  readonly network: string;
  readonly asset: string;
  /** Currency that deposits are settled in, or null to take them as the token. */
  readonly settleIn: string | null;
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
    close: () => http.close(),
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
