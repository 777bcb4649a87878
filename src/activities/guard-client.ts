import type { Breaker } from '../db/breaker.js';
import { ProviderError } from '../providers/errors.js';

/**
 * The same client behind a breaker: each `read…` and `create…` asks for admission and reports how it went. Only what
 * says that the provider is unwell counts: not a decline, a 404 or a 429 (`countsForBreaker`).
 */
export function guardClient<Client extends object>(
  client: Client,
  of: { readonly provider: string; readonly breaker: Breaker; readonly onOpen: () => Promise<void> },
): Client {
  const guard = (operation: string, call: (...args: unknown[]) => Promise<unknown>) => {
    return async (...args: unknown[]): Promise<unknown> => {
      const admission = await of.breaker.admit();
      if ('openForMs' in admission) {
        const { provider } = of;
        throw new ProviderError({ kind: 'breaker_open', provider, operation, retryAfterMs: admission.openForMs });
      }
      try {
        const result = await call(...args);
        await admission.succeeded();
        return result;
      } catch (error) {
        // A bug of ours says nothing about the provider.
        if (!(error instanceof ProviderError)) throw error;
        if (!error.countsForBreaker) await admission.succeeded();
        else if (await admission.failed()) await of.onOpen();
        throw error;
      }
    };
  };
  return new Proxy(client, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      const guarded = typeof name === 'string' && /^(read|create)[A-Z]/.test(name) && typeof member === 'function';
      return guarded ? guard(name, (...args) => Reflect.apply(member, target, args) as Promise<unknown>) : member;
    },
  });
}
