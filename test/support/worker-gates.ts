import type { ActivityDeps } from '../../src/activities/deps.js';
import type { CustodyClient } from '../../src/providers/custody/client.js';

/** Holds calls of one kind until they are let through. */
export interface Gate {
  readonly deps: (deps: ActivityDeps) => ActivityDeps;
  /** How many calls have arrived. */
  arrived(): number;
  /** Lets the next `calls` through, those that wait first; all when left out. */
  open(calls?: number): void;
}

/**
 * A gate in front of the answers of a custodian's function: the call is made, the answer waits. What happens between
 * arrival and opening happens during the call, as far as the workflow can tell. `holds` picks calls by what they are
 * about, their first argument.
 */
export function createGate(name: keyof CustodyClient, holds: (subject: unknown) => boolean = () => true): Gate {
  let arrived = 0;
  let free = 0;
  const waiting: (() => void)[] = [];
  const pass = async (subject: unknown) => {
    if (!holds(subject)) return;
    arrived += 1;
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return {
    arrived: () => arrived,
    open(calls = Number.POSITIVE_INFINITY) {
      const through = waiting.splice(0, calls);
      free += calls - through.length;
      for (const goOn of through) goOn();
    },
    deps: (deps) => ({ ...deps, custody: (of) => behind(deps.custody(of), name, pass) }),
  };
}

function behind(
  client: CustodyClient,
  name: keyof CustodyClient,
  pass: (subject: unknown) => Promise<void>,
): CustodyClient {
  return new Proxy(client, {
    get(target, member, receiver) {
      const real: unknown = Reflect.get(target, member, receiver);
      if (member !== name || typeof real !== 'function') return real;
      return async (...args: unknown[]) => {
        const answer = Promise.resolve(Reflect.apply(real, target, args));
        // Waited for after the gate; it must not be an unhandled rejection meanwhile.
        answer.catch(() => undefined);
        await pass(args[0]);
        return answer;
      };
    },
  });
}
