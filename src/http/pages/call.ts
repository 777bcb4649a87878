import type pg from 'pg';
import type { Session } from '../../db/sessions.js';
import type { Tx } from '../../db/transaction.js';
import type { Log } from '../../telemetry/log.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { Form } from './form-body.js';
import type { IdentityProvider } from './identity-provider.js';
import type { View } from './view.js';

/** Who a page is for: people of ours, or a merchant's. */
export type Audience = 'console' | 'cabinet';
export type Role = 'requester' | 'operator' | 'approver' | 'admin' | 'auditor';

/** What every page works with. */
export interface PagesDeps {
  readonly audience: Audience;
  /** Scheme, host and port that browsers see: forms come from there alone. */
  readonly origin: string;
  /** One-time links sign in; off where an identity provider does. */
  readonly localLinks: boolean;
  readonly identityProvider: IdentityProvider | null;
  readonly db: Tx;
  /** For what has to be read in one moment. */
  readonly pool: pg.Pool;
  readonly log: Log;
  readonly metrics: Metrics;
  /** True from the first moment of a stop: every further call is refused. */
  readonly stopping: () => boolean;
}

/** One call of a page. */
export interface PageCall<Deps extends PagesDeps = PagesDeps> {
  readonly deps: Deps;
  readonly view: View;
  /** Null only on pages that are for anyone. */
  readonly session: Session | null;
  /** Without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Of a POST; its token was checked. */
  readonly form: Form;
  readonly traceId: string;
  /** Where the call came from, to count attempts. */
  readonly address: string;
  readonly cookie: (name: string) => string | undefined;
  /** What the browser says of the page that the call comes from: `same-origin`, `none` where it is typed. */
  readonly fetchSite: string | null;
}

/** A call of somebody who has signed in. */
export interface SignedCall<Deps extends PagesDeps = PagesDeps> extends PageCall<Deps> {
  readonly session: Session;
}
