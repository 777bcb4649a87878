import { openAnswerCutter } from '../support/answer-cutter.js';
import { killAtPoints, meetPoints } from '../support/crash-child.js';
import { ANSWER, COMMIT_SENT, type Step, withSteps } from '../support/crash-steps.js';
import type { WorkerWorld } from '../support/worker-world.js';
import type { Flow, Point, Subjects } from './flow.js';
import { findRepeats, findViolations } from './invariants.js';
import { oneAccount, withWorker } from './with-worker.js';
import { within } from './within.js';

/** What was done to a flow and what came of it; `cells` are those that were to be run. */
export interface Tally {
  cells: number;
  hit: number;
  operations: number;
  faults: number;
  /** Commits whose answer nobody ever read. */
  ambiguous: number;
  /** Each with the command that repeats it. */
  readonly violations: Failure[];
  readonly voids: Failure[];
}

export interface Failure {
  readonly what: string;
  readonly repeat: string;
}

export interface CellOptions {
  readonly bundlePath: string;
  /** Only these; all when null. */
  readonly points: readonly number[] | null;
  /** Every so many of the points; 1 for all. */
  readonly stride: number;
  readonly seed: number;
}

const FINISH_WITHIN_MS = 90_000;

export function emptyTally(): Tally {
  return { cells: 0, hit: 0, operations: 0, faults: 0, ambiguous: 0, violations: [], voids: [] };
}

/** Every crash point and every lost commit of one flow in a world of its own. */
export async function runCells(flow: Flow, world: WorkerWorld, options: CellOptions): Promise<Tally> {
  const tally = emptyTally();
  const all = await recordPoints(flow, world, options.bundlePath);
  const chosen = all.filter(
    ({ number }) => options.points?.includes(number) ?? number % options.stride === options.seed % options.stride,
  );
  if (chosen.length === 0) throw new Error(`${flow.name} has ${all.length} points, from 0; none was chosen.`);
  for (const batch of batchesOf(chosen, flow.atOnce)) {
    await runBatch(tally, { flow, batch, world, mode: 'killed' }, async (subjects) => {
      const crash = { points: pointsOf(batch), bundlePath: options.bundlePath };
      const held = await killAtPoints(world, crash, () => subjects.start());
      await withWorker(world, () => within(FINISH_WITHIN_MS, subjects.finish()), { bundlePath: options.bundlePath });
      return { met: held, ambiguous: held.filter(({ label }) => label === COMMIT_SENT).length };
    });
  }
  const commits = chosen.filter((point) => point.commits);
  for (const batch of batchesOf(commits, flow.atOnce)) {
    await runBatch(tally, { flow, batch, world, mode: 'answer lost' }, (subjects) =>
      loseAnswers(world, { points: pointsOf(batch), bundlePath: options.bundlePath }, subjects),
    );
  }
  return tally;
}

/** The same worker goes on after the answer to a commit was lost on the wire. */
async function loseAnswers(
  world: WorkerWorld,
  crash: { points: Record<string, number[]>; bundlePath: string },
  subjects: Subjects,
): Promise<Met> {
  const wire = await openAnswerCutter(world.config.DATABASE_URL);
  try {
    const env = { DATABASE_URL: wire.url };
    const worker = await meetPoints(world, { ...crash, mode: 'lose', env }, () => subjects.start());
    try {
      await within(FINISH_WITHIN_MS, subjects.finish());
    } finally {
      await worker.kill();
    }
    return { met: worker.met, ambiguous: Math.min(wire.cuts(), worker.met.length) };
  } finally {
    await wire.close();
  }
}

interface Met {
  readonly met: readonly Step[];
  readonly ambiguous: number;
}

interface Batch {
  readonly flow: Flow;
  readonly batch: readonly Point[];
  readonly world: WorkerWorld;
  readonly mode: 'killed' | 'answer lost';
}

async function runBatch(
  tally: Tally,
  { flow, batch, world, mode }: Batch,
  play: (subjects: Subjects) => Promise<Met>,
): Promise<void> {
  const repeat = `npm run drill -- --flow ${flow.name} --point ${batch.map(({ number }) => number).join(',')}`;
  tally.cells += batch.length;
  const subjects = await flow.arrange(world, batch.length);
  try {
    const { met, ambiguous } = await play(subjects);
    tally.hit += met.length;
    tally.faults += met.length;
    tally.ambiguous += ambiguous;
    if (met.length !== batch.length) tally.voids.push({ what: `${met.length} of ${batch.length} were met`, repeat });
    tally.operations += batch.length;
  } catch (error) {
    const what = `${mode}: ${error instanceof Error ? error.message : String(error)}`;
    (/void|points were met|ended by itself/.test(what) ? tally.voids : tally.violations).push({ what, repeat });
    return;
  }
  const found = [...(await findViolations(world, flow)), ...(await findRepeats(world, subjects))];
  tally.violations.push(...found.map((what) => ({ what: `${mode}: ${what}`, repeat })));
}

/** Lets the flow happen once with nothing in its way, and writes down every step of its activities. */
export async function recordPoints(flow: Flow, world: WorkerWorld, bundlePath: string): Promise<Point[]> {
  const steps: Step[] = [];
  const first = new Map<string, string>();
  const subjects = await flow.arrange(world, 1);
  const ended = new Set<string>();
  const stepped = withSteps(oneAccount(world.deps), async (step) => {
    if (!first.has(step.activity)) first.set(step.activity, step.subject);
    // The first attempt only.
    if (first.get(step.activity) !== step.subject || ended.has(step.activity)) return undefined;
    steps.push(step);
    if (step.label === ANSWER) ended.add(step.activity);
    return undefined;
  });
  const worker = await world.startWorker({ bundlePath, deps: () => stepped.deps, activities: stepped.activities });
  try {
    await subjects.start();
    await within(FINISH_WITHIN_MS, subjects.finish());
  } finally {
    await worker.stop();
  }
  const found = flow.activities.flatMap((activity) => steps.filter((step) => step.activity === activity));
  return found.map(({ activity, number: step, label, commits }, number) => ({
    number,
    activity,
    step,
    label,
    commits,
  }));
}

function pointsOf(batch: readonly Point[]): Record<string, number[]> {
  const points: Record<string, number[]> = {};
  for (const { activity, step } of batch) points[activity] = [...(points[activity] ?? []), step];
  return points;
}

function batchesOf(points: readonly Point[], size: number): Point[][] {
  const batches: Point[][] = [];
  for (let from = 0; from < points.length; from += size) batches.push(points.slice(from, from + size));
  return batches;
}
