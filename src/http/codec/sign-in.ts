import { readBytes } from '../gateway/body.js';
import { Problem } from '../problem.js';
import { type CodecAccess, isToken, sessionCookie } from './codec-access.js';

const FORM_BYTES_MAX = 4_096;
/** No script, no style, nothing from elsewhere, in nobody's frame. */
const POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** The page where a person shows the token, so that Temporal's UI can decode in this browser. */
export function signInPage(said: string | null = null, status = 200): Response {
  const note = said === null ? '' : `<p role="status">${said}</p>`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Payload codec</title></head>
<body><main><h1>Payload codec</h1>${note}
<p>Temporal's UI shows payloads in clear once this browser has shown the token of the codec, for eight hours, and where
the UI is told to include cross-origin credentials.</p>
<form method="post" action="sign-in">
<label>Token <input type="password" name="token" required autocomplete="off"></label>
<button>Sign in</button></form></main></body></html>
`;
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY };
  return new Response(html, { status, headers });
}

/** Takes the form of that page; the right token opens a session of this browser. */
export async function signIn(request: Request, access: CodecAccess): Promise<Response> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.startsWith('application/x-www-form-urlencoded')) throw new Problem('unsupported_media_type');
  const form = new URLSearchParams((await readBytes(request, FORM_BYTES_MAX)).toString('utf8'));
  if (!isToken(form.get('token') ?? '', access)) {
    return signInPage("This is not the token. It is SVERKA_CODEC_TOKEN; in the local run, run.json's codecToken.", 401);
  }
  const page = signInPage("Signed in. Reload Temporal's UI.");
  page.headers.set('set-cookie', sessionCookie(access));
  return page;
}
