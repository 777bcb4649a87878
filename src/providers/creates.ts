/** What the worker must know of a create before it may call it (DESIGN 8). */
export interface CreateDeclaration {
  /** True: the same call with the same reference makes one thing. False: a second call makes a second one. */
  readonly idempotentByReference: boolean;
  /** How long after the call a lookup by reference may still miss what was made, in milliseconds. */
  readonly lookupLagMs: number;
}
export type CreateDeclarations = Readonly<Record<string, CreateDeclaration>>;

export interface DeclaredProvider {
  readonly name: string;
  readonly client: object;
  readonly creates: CreateDeclarations;
}

/**
 * Refuses, by one error that names every fault, a provider whose client has a `create…` that is not declared, a
 * declaration without its function, or a function that is neither `read…` nor `create…` (nor `close`).
 * The worker calls it at start.
 */
export function assertCreatesDeclared(providers: readonly DeclaredProvider[]): void {
  const problems = providers.flatMap((provider) => problemsOf(provider));
  if (problems.length > 0) {
    throw new Error(`Providers are not declared:\n${problems.map((line) => `  ${line}`).join('\n')}`);
  }
}

function problemsOf({ name, client, creates }: DeclaredProvider): string[] {
  const functions = Object.entries(client)
    .filter(([key, value]) => typeof value === 'function' && key !== 'close')
    .map(([key]) => key);
  return [
    ...functions
      .filter((key) => !/^(read|create)[A-Z]/.test(key))
      .map((key) => `${name}.${key}: name it read… (safe to repeat) or create… (made once, then asked about)`),
    ...functions
      .filter((key) => key.startsWith('create') && !Object.hasOwn(creates, key))
      .map((key) => `${name}.${key}: declare idempotentByReference and lookupLagMs for it`),
    ...Object.keys(creates)
      .filter((key) => !functions.includes(key))
      .map((key) => `${name}.${key}: declared, but the client has no such function`),
    ...Object.entries(creates)
      .filter(([, declared]) => !Number.isSafeInteger(declared.lookupLagMs) || declared.lookupLagMs < 0)
      .map(([key]) => `${name}.${key}: lookupLagMs must be a whole number of milliseconds`),
  ];
}
