import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';
import type { Flow } from './flow.js';
import { findViolations } from './invariants.js';
import { DATABASE_FAULTS } from './planted-in-database.js';
import { WORKER_FAULTS } from './planted-scenes.js';

/** A fault that is planted on purpose: a drill that stays green with it shows nothing. */
export interface Control {
  /** What is done wrong. */
  readonly name: string;
  /** Whose truth is compared. */
  readonly flow: Flow;
  /** Lets the fault happen in a world of its own. */
  play(world: WorkerWorld, bundlePath: string): Promise<void>;
}

export interface ControlResult {
  readonly name: string;
  /** The first of what the drill's own invariants say of it; null when they say nothing. */
  readonly caught: string | null;
}

/** Plants each fault in a world of its own and looks whether the invariants of every cell catch it. */
export async function runControls(
  bundlePath: string,
  { quick, say }: { quick: boolean; say: (line: string) => void },
): Promise<ControlResult[]> {
  const results: ControlResult[] = [];
  // Scenes of a worker take a process each.
  for (const control of [...DATABASE_FAULTS, ...(quick ? WORKER_FAULTS.slice(0, 1) : WORKER_FAULTS)]) {
    const world = await openWorkerWorld();
    try {
      await control.play(world, bundlePath);
      const [caught = null] = await findViolations(world, control.flow);
      results.push({ name: control.name, caught });
      say(`  control: ${control.name}: ${caught === null ? 'NOT CAUGHT' : `caught (${caught.slice(0, 100)})`}`);
    } catch (error) {
      results.push({ name: control.name, caught: null });
      say(`  control: ${control.name}: COULD NOT BE PLAYED (${String(error)})`);
    } finally {
      await world.close();
    }
  }
  return results;
}
