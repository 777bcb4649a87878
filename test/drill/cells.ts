import { openAnswerCutter } from '../support/answer-cutter.js';
import { type CrashOptions, killAtPoints, meetPoints } from '../support/crash-child.js';
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
  /** Also with a process that is stopped and continues. */
  readonly zombies: boolean;
  readonly say: (line: string) => void;
}

const FINISH_WITHIN_MS = 90_000;
/** What is held is tried again, held as well, and keeps its slot: a slow machine needs many until all are met. */
const SLOTS = { SVERKA_DATABASE_POOL: '100' };

export function emptyTally(): Tally {
  return { cells: 0, hit: 0, operations: 0, faults: 0, ambiguous: 0, violations: [], voids: [] };
}

/** Every crash point and every lost commit of one flow in a world of its own. */
export async function runCells(flow: Flow, world: WorkerWorld, options: CellOptions): Promise<Tally> {
  const tally = emptyTally();
  const all = await recordPoints(flow, world, options.bundlePath);
  const chosen = choosePoints(all, options);
  if (chosen.length === 0) throw new Error(`${flow.name} has ${all.length} points, from 0; none was chosen.`);
  const { bundlePath } = options;
  const modes = [
    { mode: 'killed', of: chosen, play: kill },
    { mode: 'answer lost', of: chosen.filter(({ commits }) => commits), play: loseAnswers },
    // Where it holds one subject at a time it is one sweep, and the next comes when it is gone.
    { mode: 'stopped and continued', of: flow.atOnce > 1 && options.zombies ? chosen : [], play: stopAndContinue },
  ] as const;
  for (const { mode, of, play } of modes) {
    for (const points of batchesOf(of, flow.atOnce)) {
      const played: Batch['play'] = (some, subjects) =>
        play(world, { points: pointsOf(some), bundlePath, env: SLOTS }, subjects);
      await runBatch(tally, { flow, points, world, mode, play: played, say: options.say });
    }
  }
  return tally;
}

/** The points asked for; otherwise every so many from where the seed says, and of a short flow at least one. */
export function choosePoints<P extends { readonly number: number }>(
  all: readonly P[],
  { points, stride, seed }: Pick<CellOptions, 'points' | 'stride' | 'seed'>,
): P[] {
  const every = Math.max(1, Math.min(stride, all.length));
  return all.filter(({ number }) => points?.includes(number) ?? number % every === seed % every);
}

/** The process is killed (SIGKILL) where it stands; another one finishes. */
async function kill(world: WorkerWorld, crash: CrashOptions, subjects: Subjects): Promise<Met> {
  const met = await killAtPoints(world, crash, () => subjects.start());
  await withWorker(world, () => within(FINISH_WITHIN_MS, subjects.finish()), { bundlePath: crash.bundlePath });
  return { met, ambiguous: met.filter(({ label }) => label === COMMIT_SENT).length };
}

/** The process is stopped (SIGSTOP) where it stands until another has finished, and then goes on as if nothing was. */
async function stopAndContinue(world: WorkerWorld, crash: CrashOptions, subjects: Subjects): Promise<Met> {
  const zombie = await meetPoints(world, crash, () => subjects.start());
  try {
    zombie.freeze();
    await withWorker(world, () => within(FINISH_WITHIN_MS, subjects.finish()), { bundlePath: crash.bundlePath });
    zombie.thaw();
    await within(FINISH_WITHIN_MS, zombie.release());
  } finally {
    await zombie.kill();
  }
  return { met: zombie.met, ambiguous: 0 };
}

/** The same worker goes on after the answer to a commit was lost on the wire. */
async function loseAnswers(world: WorkerWorld, crash: CrashOptions, subjects: Subjects): Promise<Met> {
  const wire = await openAnswerCutter(world.config.DATABASE_URL);
  try {
    const env = { ...crash.env, DATABASE_URL: wire.url };
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
  readonly points: readonly Point[];
  readonly world: WorkerWorld;
  readonly mode: 'killed' | 'answer lost' | 'stopped and continued';
  readonly play: (points: readonly Point[], subjects: Subjects) => Promise<Met>;
  readonly say: (line: string) => void;
}

async function runBatch(tally: Tally, batch: Batch): Promise<void> {
  const { flow, points, mode } = batch;
  tally.cells += points.length;
  const failure = await playBatch(tally, batch);
  if (failure === null) return;
  batch.say(`  ${flow.name}, ${mode}, ${points.length} points: ${failure}`);
  const repeat = `npm run drill -- --flow ${flow.name} --point ${points.map(({ number }) => number).join(',')}`;
  const isVoid = /void|points were met|ended by itself/.test(failure);
  if (!isVoid) tally.violations.push({ what: `${mode}: ${failure}`, repeat });
  // A machine that was busy with other things may have missed it: each once more, alone.
  for (const point of isVoid ? points : []) {
    const again = await playBatch(tally, { ...batch, points: [point] });
    if (again === null) continue;
    const alone = `npm run drill -- --flow ${flow.name} --point ${point.number}`;
    tally.voids.push({ what: `${mode}: ${again}`, repeat: alone });
  }
}

/** Null when all went as it should, violations counted; else why it did not come to that. */
async function playBatch(tally: Tally, { flow, points, world, mode, play }: Batch): Promise<string | null> {
  const repeat = `npm run drill -- --flow ${flow.name} --point ${points.map(({ number }) => number).join(',')}`;
  const subjects = await flow.arrange(world, flow.atOnce === 1 ? 1 : points.length);
  try {
    const { met, ambiguous } = await play(points, subjects);
    if (met.length !== points.length) return `${met.length} of ${points.length} were met; void`;
    tally.hit += met.length;
    tally.faults += met.length;
    tally.ambiguous += ambiguous;
    tally.operations += points.length;
  } catch (error) {
    // What is left must not be taken for a violation of the next cell.
    await withWorker(world, () => within(FINISH_WITHIN_MS, subjects.finish())).catch(() => undefined);
    return error instanceof Error ? error.message : String(error);
  }
  const found = [...(await findViolations(world, flow)), ...(await findRepeats(world, flow, subjects))];
  tally.violations.push(...found.map((what) => ({ what: `${mode}: ${what}`, repeat })));
  return null;
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

/** Every so many subjects; where all share one activity, one point of each activity. */
function batchesOf(points: readonly Point[], size: number): Point[][] {
  const batches: Point[][] = [];
  const place = new Map<string, number>();
  for (const [n, point] of points.entries()) {
    const own = place.get(point.activity) ?? 0;
    place.set(point.activity, own + 1);
    const at = size === 1 ? own : Math.floor(n / size);
    batches[at] = [...(batches[at] ?? []), point];
  }
  return batches;
}
