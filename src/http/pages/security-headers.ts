/** Nothing but our own style, scripts, images and forms; nothing inline; in nobody's frame. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'";

/** What every answer of a page carries; only what says so itself is kept by a browser. */
export function setPageHeaders(headers: Headers, requestId: string): void {
  headers.set('request-id', requestId);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  headers.set('content-security-policy', POLICY);
  headers.set('x-content-type-options', 'nosniff');
  headers.set('x-frame-options', 'DENY');
  headers.set('cross-origin-opener-policy', 'same-origin');
  headers.set('cross-origin-resource-policy', 'same-origin');
  // Ids stand in addresses: nobody else is told them. Our own origin stays named, which forms need.
  headers.set('referrer-policy', 'same-origin');
  headers.set('permissions-policy', 'camera=(), geolocation=(), microphone=()');
}
