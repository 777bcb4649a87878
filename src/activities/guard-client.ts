import type { Config } from '../config.js';
import { raiseAlert } from '../db/alerts.js';
import { type Breaker, type BreakerLimits, breakerName, createBreaker } from '../db/breaker.js';
import type { Tx } from '../db/transaction.js';
import type { AccountOf } from '../providers/create-providers.js';
import { ProviderError } from '../providers/errors.js';

/** The clients of all accounts at one provider behind its breaker of their book; an open one is an alert. */
export function guardProvider<Client extends object>(
  db: Tx,
  { provider, clientOf }: { provider: string; clientOf: (of: AccountOf) => Client },
  limits: BreakerLimits,
): (of: AccountOf) => Client {
  const guarded = new Map<string, Client>();
  return (of) => {
    const known = guarded.get(`${of.book}:${of.account}`);
    if (known) return known;
    const name = breakerName({ provider, book: of.book });
    const onOpen = () =>
      raiseAlert(db, {
        key: `health:breaker:${name}`,
        kind: 'breaker_open',
        book: of.book,
        subject: { type: 'provider', id: name },
        detail: 'A provider is unwell and is not called; what waits goes on by itself.',
      }).catch(() => undefined);
    const breaker = createBreaker(db, name, limits);
    const client = guardClient(clientOf(of), { provider, breaker, onOpen });
    guarded.set(`${of.book}:${of.account}`, client);
    return client;
  };
}

export function breakerLimits(config: Config): BreakerLimits {
  return {
    failuresMax: config.SVERKA_BREAKER_FAILURES,
    windowMs: config.SVERKA_BREAKER_WINDOW,
    openMs: config.SVERKA_BREAKER_OPEN,
    leaseMs: config.SVERKA_BREAKER_LEASE,
  };
}

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
