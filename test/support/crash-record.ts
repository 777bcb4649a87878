import { withSteps } from './crash-steps.js';
import type { WorkerOptions, WorkerWorld } from './worker-world.js';

/** The steps of each activity, by name, as its first subject went through them. */
export type RecordedSteps = ReadonlyMap<string, readonly string[]>;

/** Lets `run` happen with nothing in its way and writes down what each activity did, step by step. */
export async function recordSteps(
  world: WorkerWorld,
  options: Pick<WorkerOptions, 'bundlePath' | 'deps'>,
  run: () => Promise<void>,
): Promise<RecordedSteps> {
  const steps = new Map<string, string[]>();
  const first = new Map<string, string>();
  const given = options.deps ? options.deps(world.deps) : world.deps;
  const stepped = withSteps(given, async ({ activity, subject, label }) => {
    if (!first.has(activity)) first.set(activity, subject);
    if (first.get(activity) !== subject) return;
    steps.set(activity, [...(steps.get(activity) ?? []), label]);
  });
  const worker = await world.startWorker({
    ...options,
    deps: () => stepped.deps,
    activities: stepped.activities,
  });
  await run();
  await worker.stop();
  return steps;
}

/** The numbers from `from` up to, not including, `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);
}
