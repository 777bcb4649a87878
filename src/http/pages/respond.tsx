import type { Child } from 'hono/jsx';
import type { PageCall, PagesDeps } from './call.js';
import { AuthLayout, CabinetLayout, OperatorLayout } from './layout.js';

export interface PageContent {
  /** Of the browser's window; the heading is the page's own. */
  readonly title: string;
  readonly status?: number;
  /** A book other than the reader's choice: of the subject that is shown. */
  readonly book?: 'live' | 'test';
}

/** Answers a page in the layout of its audience; before signing in, in that of the sign-in. */
export async function respond<Deps extends PagesDeps>(
  call: Pick<PageCall<Deps>, 'deps' | 'view' | 'session' | 'path'>,
  content: PageContent,
  body: Child,
): Promise<Response> {
  const { session, deps, path } = call;
  const view = content.book === undefined ? call.view : { ...call.view, book: content.book };
  const of = { view, title: content.title, path };
  const page =
    session === null ? (
      <AuthLayout {...of} audience={deps.audience}>
        {body}
      </AuthLayout>
    ) : deps.audience === 'console' ? (
      <OperatorLayout {...of} session={session}>
        {body}
      </OperatorLayout>
    ) : (
      <CabinetLayout {...of} session={session}>
        {body}
      </CabinetLayout>
    );
  return new Response(`<!doctype html>${String(await page)}`, {
    status: content.status ?? 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
}

/** Sends the browser on, with a GET. */
export function redirect(path: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location: path });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}
