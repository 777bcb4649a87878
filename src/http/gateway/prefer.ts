/** How long a caller waits for a definite result (API.md 1). */
export interface Preference {
  readonly waitMs: number;
  /** Echoed as `Preference-Applied`; null when the caller named none. */
  readonly applied: string | null;
}

const WAIT_DEFAULT_S = 4;
const WAIT_S_MAX = 10;

/**
 * Reads `Prefer: wait=N` (more than 10 s is 10 s) and `respond-async` (no wait, unless `wait` stands beside it).
 * What is not understood is ignored, as RFC 7240 has it.
 */
export function readPreference(header: string | undefined): Preference {
  const preferences = (header ?? '').split(/[,;]/).map((text) => text.trim().toLowerCase());
  for (const preference of preferences) {
    const seconds = /^wait\s*=\s*"?([0-9]+)"?$/.exec(preference)?.[1];
    if (seconds === undefined) continue;
    const wait = Math.min(Number(seconds), WAIT_S_MAX);
    return { waitMs: wait * 1_000, applied: `wait=${wait}` };
  }
  if (preferences.includes('respond-async')) return { waitMs: 0, applied: 'respond-async' };
  return { waitMs: WAIT_DEFAULT_S * 1_000, applied: null };
}
