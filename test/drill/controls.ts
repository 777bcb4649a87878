import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';
import { eachAtOnce } from './each-at-once.js';
import type { Flow } from './flow.js';
import { findViolations } from './invariants.js';
import { DATABASE_FAULTS } from './planted-in-database.js';
import { BALANCE_FAULTS } from './planted-on-balances.js';
import { CARD_FAULTS } from './planted-on-cards.js';
import { WORKER_FAULTS } from './planted-scenes.js';

/** A fault that is planted on purpose: a drill that stays green with it shows nothing. */
export interface Control {
  /** What is done wrong. */
  readonly name: string;
  /** Whose truth is compared. */
  readonly flow: Flow;
  /** The line that must be among what is said of it, where others may be as well. */
  readonly caughtBy?: RegExp;
  /** Lets the fault happen in a world of its own. */
  play(world: WorkerWorld, bundlePath: string): Promise<void>;
}

export interface ControlResult {
  readonly name: string;
  /** What the drill's own invariants say of it; null when they do not say what they should. */
  readonly caught: string | null;
}

/** Plants each fault in a world of its own and looks whether the invariants of every cell catch it. */
export async function runControls(
  bundlePath: string,
  { quick, atOnce, say }: { quick: boolean; atOnce: number; say: (line: string) => void },
): Promise<ControlResult[]> {
  // Scenes of a worker take a process each.
  const some = quick ? WORKER_FAULTS.slice(0, 1) : WORKER_FAULTS;
  const controls = [...DATABASE_FAULTS, ...CARD_FAULTS, ...BALANCE_FAULTS, ...some];
  const results = new Map<string, string | null>();
  const missed: Control[] = [];
  await eachAtOnce(controls, atOnce, async (control) => {
    const { caught, line } = await playControl(control, bundlePath);
    results.set(control.name, caught);
    if (caught === null) missed.push(control);
    say(`  control: ${control.name}: ${line}`);
  });
  // A machine that was busy with other things may have missed the moment of a fault: each once more, alone.
  for (const control of missed) {
    const { caught, line } = await playControl(control, bundlePath);
    results.set(control.name, caught);
    say(`  control: ${control.name}, once more: ${caught === null ? `NOT CAUGHT (${line})` : line}`);
  }
  return [...results].map(([name, caught]) => ({ name, caught }));
}

async function playControl(control: Control, bundlePath: string): Promise<{ caught: string | null; line: string }> {
  const { settings = {}, pert = false } = control.flow;
  const world = await openWorkerWorld({ settings, pert });
  try {
    await control.play(world, bundlePath);
    const found = await findViolations(world, control.flow);
    const caught = found.find((line) => control.caughtBy?.test(line) ?? true) ?? null;
    return { caught, line: caught === null ? `missed (${found.join('; ')})` : `caught (${caught.slice(0, 100)})` };
  } catch (error) {
    return { caught: null, line: `could not be played (${String(error)})` };
  } finally {
    await world.close();
  }
}
