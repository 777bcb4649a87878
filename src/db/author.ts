/** Who changes something through a door of the admin's, as the audit names it. */
export interface Author {
  /** `user:usr_…` in the console, `cli:<login of the machine>` on the command line. */
  readonly actor: string;
  readonly traceId: string | null;
}

/** The last two arguments of such a door. Where nobody is named, the audit has the database role that came. */
export function authorArguments(by: Author | null): [string | null, string | null] {
  return [by?.actor ?? null, by?.traceId ?? null];
}
