import type { CreateDeclarations } from '../creates.js';
import { ProviderError } from '../errors.js';
import { type CallContext, createHttpCaller } from '../http-call.js';
import { type Parsed, type PertPage, type PertSnapshot, parsePertPage, parsePertSnapshot } from './schema.js';

const PROVIDER = 'pert';
const LIMIT_MAX = 1_000;

/** Pert is read and nothing is made there. */
export const PERT_CREATES = {} as const satisfies CreateDeclarations;

/** A page of the journal, or its word that it no longer reaches back so far: then a fresh snapshot is the truth. */
export type PertChanges = ({ readonly tooOld: false } & PertPage) | { readonly tooOld: true };

export interface PertClient {
  /** What Pert holds in each currency, at one position of its journal. */
  readCurrencies(context?: CallContext): Promise<PertSnapshot>;
  /**
   * Changes after the cursor, oldest first; `limit` 1 to 1000. The cursor is one that Pert gave out, in a snapshot or a
   * page. It may answer silently fewer items for one that is too old: the caller compares with `minCursor` (R2).
   */
  readChanges(
    page: { readonly sinceCursor: string; readonly limit: number },
    context?: CallContext,
  ): Promise<PertChanges>;
  close(): Promise<void>;
}

/** Calls to one account at Pert. Each throws a ProviderError, none retries; `timeoutMs` is for a whole call. */
export function createPertClient(options: { url: string; apiKey: string; timeoutMs: number }): PertClient {
  const { url, apiKey, timeoutMs } = options;
  const http = createHttpCaller({ provider: PROVIDER, url, timeoutMs, headers: { authorization: `Bearer ${apiKey}` } });
  return {
    async readCurrencies(context) {
      const operation = 'readCurrencies';
      const path = '/asset/balances/currencies';
      const { body } = await http.call({ operation, method: 'GET', path, expect: [200], context });
      return recordOf(operation, parsePertSnapshot(body));
    },
    async readChanges({ sinceCursor, limit }, context) {
      const operation = 'readChanges';
      if (sinceCursor === '') throw new RangeError('Paging starts at a cursor of a snapshot, never at an empty one.');
      if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) throw new RangeError('limit is 1 to 1000.');
      const query = { since_cursor: sinceCursor, limit };
      const path = '/transactions/changes';
      const answer = await http
        .call({ operation, method: 'GET', path, query, expect: [200], context })
        .catch(nullWhenTooOld);
      if (answer === null) return { tooOld: true };
      return { tooOld: false, ...recordOf(operation, parsePertPage(answer.body)) };
    },
    close: () => http.close(),
  };
}

// Any other 410 may come from something in between, and proves nothing of the journal.
function nullWhenTooOld(error: unknown): null {
  if (error instanceof ProviderError && error.status === 410 && error.code === 'cursor_too_old') return null;
  throw error;
}

function recordOf<T>(operation: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.record;
  throw new ProviderError({ kind: 'garbage', provider: PROVIDER, operation, reason: parsed.reason });
}
