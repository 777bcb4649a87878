/** Counts the product's transactions that began more than so many milliseconds ago and are still open. */
export type OpenTransactionProbe = (olderThanMs: number) => Promise<number>;

export interface OpenTransactions {
  readonly max: number;
  /** When the most were seen; null while none was. */
  readonly at: string | null;
  /** How many requests were looked at: with 0 the rest says nothing. */
  readonly measured: number;
}

/** Requests held for less than this are not looked at. */
export const HELD_MS_MIN = 300;

export interface OpenTransactionWatch {
  /** Call it right before a request is answered, with how long it has been held. */
  answering(heldMs: number): Promise<void>;
  read(): OpenTransactions;
  reset(): void;
}

/**
 * Sees whether a transaction of the product was open while it waited for us (invariant I7). A product transaction that
 * began before the request arrived is older than the time the request was held; the database's clock decides.
 */
export function createOpenTransactionWatch(probe: OpenTransactionProbe | undefined): OpenTransactionWatch {
  let seen: OpenTransactions = { max: 0, at: null, measured: 0 };
  return {
    async answering(heldMs) {
      if (!probe || heldMs < HELD_MS_MIN) return;
      // A database that is away (a test may have stopped it) leaves the request unmeasured.
      const open = await probe(heldMs).catch(() => null);
      if (open === null) return;
      const more = open > seen.max;
      seen = {
        max: more ? open : seen.max,
        at: more ? new Date().toISOString() : seen.at,
        measured: seen.measured + 1,
      };
    },
    read: () => seen,
    reset() {
      seen = { max: 0, at: null, measured: 0 };
    },
  };
}
