/** Apart by at least this long for one target: many nudges around a continue-as-new would be refused. */
const GAP_MS = 100;
/** Targets remembered at once; past it a nudge is left to the sweep. */
const TARGETS_MAX = 10_000;

export interface Nudger<Target> {
  /** Never throws and never waits: a nudge that fails is found by the sweep. */
  nudge(key: string, target: Target): void;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

/** Coalesces nudges: per target one in flight and one more behind it, whatever number came. */
export function createNudger<Target>(
  send: (target: Target) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Nudger<Target> {
  const running = new Map<string, { again: Target | null }>();
  const flights = new Set<Promise<void>>();

  const run = async (key: string, first: Target): Promise<void> => {
    const state: { again: Target | null } = { again: null };
    running.set(key, state);
    for (let target: Target | null = first; target !== null; target = state.again) {
      state.again = null;
      await send(target).catch(onFailure);
      await new Promise((resolve) => setTimeout(resolve, GAP_MS));
    }
    running.delete(key);
  };

  return {
    nudge(key, target) {
      const state = running.get(key);
      if (state) state.again = target;
      else if (running.size < TARGETS_MAX) {
        const flight = run(key, target).finally(() => flights.delete(flight));
        flights.add(flight);
      }
    },
    async idle() {
      while (flights.size > 0) await Promise.all(flights);
    },
  };
}
