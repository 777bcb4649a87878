const TIMEOUTS = new Set(['ETIMEDOUT', 'ESOCKETTIMEDOUT', 'ABORT_ERR', '57014', 'UND_ERR_CONNECT_TIMEOUT']);

/** The class of a failed dependency, for health answers and logs: never the driver's words, hosts or users. */
export function errorClass(error: unknown): 'timeout' | 'refused' {
  const codes: unknown[] = [];
  for (let at: unknown = error; at instanceof Error && codes.length < 5; at = at.cause) {
    codes.push('code' in at ? at.code : undefined, at.name);
    if (/timeout|timed out|deadline/i.test(at.message)) return 'timeout';
  }
  return codes.some((code) => TIMEOUTS.has(String(code)) || code === 'TimeoutError') ? 'timeout' : 'refused';
}
