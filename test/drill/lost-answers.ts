import { eventually } from '../support/simulated-custody.js';
import type { WorkerWorld } from '../support/worker-world.js';

/** The issuer is not unwell while his answers are lost: each would count against him. */
export const NOT_UNWELL = { SVERKA_BREAKER_FAILURES: '1000' } as const;

/** The issuer does what he is asked, and each answer to such a call is lost, from `during` until `end`. */
export function losingAnswers(world: WorkerWorld, lost: { readonly path: string; readonly count: number }) {
  let fault: string | null = null;
  return {
    /** Begins, and waits until so many calls of that path were made. */
    async during(start: () => Promise<void>): Promise<void> {
      const before = await postsTo(world, lost.path);
      const match = { method: 'POST', path: lost.path };
      fault = (await world.issuer.drive('POST', '/_sim/faults', { fault: 'lost_answer', match })).id;
      await start();
      await eventually(async () => (await postsTo(world, lost.path)) >= before + lost.count);
    },
    async end(): Promise<void> {
      if (fault !== null) await world.issuer.drive('DELETE', `/_sim/faults/${fault}`);
      fault = null;
    },
  };
}

/** A path that ends with `*` is that of all below it, each of which is counted by its own. */
async function postsTo({ issuer }: WorkerWorld, path: string): Promise<number> {
  const { requests } = await issuer.truth();
  const isMeant = path.endsWith('*')
    ? (to: string) => to.startsWith(`POST ${path.slice(0, -1)}`)
    : (to: string) => to === `POST ${path}`;
  return Object.entries(requests).reduce((sum, [to, n]) => sum + (isMeant(to) ? n : 0), 0);
}
