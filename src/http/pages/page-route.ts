import type { PageCall, PagesDeps, Role, SignedCall } from './call.js';

/** One row of a route table: what has no row is refused. */
export interface PageRoute<Deps extends PagesDeps> {
  readonly method: 'GET' | 'POST';
  /** With `:name` for a part that varies: `/operator/deposits/:id`. */
  readonly path: string;
  /** Who may: some roles, or anyone, also before signing in. */
  readonly roles: readonly Role[] | 'anyone';
  /** What its `:id` names, where it names something; null where it names nothing. */
  readonly names: string | null;
  /** How much of a body it takes; a form without files by default. */
  readonly bodyBytesMax?: number;
  readonly handler: (call: PageCall<Deps>) => Promise<Response>;
}

/** A row for people with one of these roles. */
export function signedRoute<Deps extends PagesDeps>(
  row: Omit<PageRoute<Deps>, 'handler' | 'roles'> & {
    readonly roles: readonly Role[];
    readonly handler: (call: SignedCall<Deps>) => Promise<Response>;
  },
): PageRoute<Deps> {
  const { handler } = row;
  return {
    ...row,
    handler: (call) => {
      const { session } = call;
      if (session === null) throw new Error(`${row.path} was served without a session, which its roles forbid.`);
      return handler({ ...call, session });
    },
  };
}

/** True for a path that a GET row of the table serves: only there may a sign-in lead. */
export function isKnownPath(routes: readonly Pick<PageRoute<never>, 'method' | 'path'>[], path: string): boolean {
  if (!/^\/[A-Za-z0-9/_.:-]*$/.test(path) || path.startsWith('//')) return false;
  return routes.some((route) => route.method === 'GET' && patternOf(route.path).test(path));
}

function patternOf(path: string): RegExp {
  const parts = path
    .split('/')
    .map((part) => (part.startsWith(':') ? '[A-Za-z0-9_.:-]+' : part.replaceAll('.', '\\.')));
  return new RegExp(`^${parts.join('/')}$`);
}
