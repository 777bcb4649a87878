/** What one check came to. A `warning` is worth knowing and no reason to fail. */
export interface Finding {
  /** Stable: `postgres`, `process:worker`. */
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'missing';
  /** What is there, or what is not; never a secret, and no words of a driver. */
  readonly detail: string;
  /** What to do next; null when nothing has to be done. */
  readonly fix: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, state: 'ok', detail, fix: null };
}

export function warning(check: string, detail: string, fix: string): Finding {
  return { check, state: 'warning', detail, fix };
}

export function missing(check: string, detail: string, fix: string): Finding {
  return { check, state: 'missing', detail, fix };
}

export const RESTART = 'Stop `npm start` with Ctrl-C and run it again; what was under way is finished then.';
