import type { Config } from '../../config.js';
import type {
  Accepted,
  CardChangeInput,
  CardLoadInput,
  DepositAddressInput,
  IssuanceInput,
  RequestMemo,
} from '../../contracts/messages.js';
import type { Scope } from '../../db/lists.js';
import type { Tx } from '../../db/transaction.js';
import type { PublicKeySource } from '../../providers/keys/key-provider.js';
import type { Log } from '../../telemetry/log.js';
import type { Metrics } from '../../telemetry/metrics.js';

/** How a start ended: what the key led to, or why that is not known. */
export type StartOutcome =
  | { readonly kind: 'accepted'; readonly accepted: Accepted }
  /** The run is over, without having answered us: the database knows. */
  | { readonly kind: 'closed' }
  /** Sent, and no answer: perhaps accepted. */
  | { readonly kind: 'unknown' }
  /** Proven that nothing was sent. */
  | { readonly kind: 'not_sent' };

/** How the gateway starts things; each under a deadline in milliseconds from now. */
export interface Starts {
  depositAddress(input: DepositAddressInput, deadlineMs: number): Promise<StartOutcome>;
  issuance(input: IssuanceInput, deadlineMs: number): Promise<StartOutcome>;
  cardLoad(input: CardLoadInput, deadlineMs: number): Promise<StartOutcome>;
  /** Throws when Temporal does not take it: then the sweep starts it. */
  cardChange(input: CardChangeInput): Promise<void>;
  /** What is known of the workflow of that request which runs now; null when none does. */
  findRunning(of: Scope & { requestId: string }): Promise<Partial<RequestMemo> | null>;
}

/** What the gateway works with. */
export interface GatewayDeps {
  readonly config: Pick<
    Config,
    'providers' | 'SVERKA_RATE_LIMIT' | 'SVERKA_RATE_LIMIT_WINDOW' | 'SVERKA_FINGERPRINT_KEY'
  >;
  readonly db: Tx;
  /** Runs it in one transaction, again while PostgreSQL says that nothing was written. */
  transact<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The key to seal identities with; null where none is configured, and nothing can be sealed. */
  readonly publicKey: PublicKeySource | null;
  readonly starts: Starts;
  readonly log: Log;
  readonly metrics: Metrics;
  /** True from the first moment of a stop: every further call is refused. */
  readonly stopping: () => boolean;
}

/** Whose key came with the call: it decides merchant and book, which are never parameters. */
export interface Caller extends Scope {
  readonly keyId: string;
  readonly access: 'full' | 'read_only';
}

/** One call as a handler sees it: checked, parsed, of a known caller. */
export interface Call<Query, Body> {
  readonly deps: GatewayDeps;
  readonly caller: Caller;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly traceId: string;
  header(name: string): string | undefined;
}

export interface Answer {
  readonly status: 200 | 201 | 202;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
