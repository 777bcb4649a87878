// `npm run drill`: started by scripts/drill.mjs. Exits with 1 on a violation, a void cell or a control not caught.
import { cpus } from 'node:os';
import { bundleImpatient } from '../support/worker-mutants.js';
import { openWorkerWorld } from '../support/worker-world.js';
import { emptyTally, runCells, type Tally } from './cells.js';
import { runControls } from './controls.js';
import { type DrillOptions, readDrillOptions } from './drill-options.js';
import { eachAtOnce } from './each-at-once.js';
import type { Flow } from './flow.js';
import { FLOWS } from './flows.js';
import { runKills } from './kills.js';
import { listFailures, makeTable, type Row } from './report.js';
import { startDrillServers } from './servers.js';

/** Flows, or controls, at the same time, each in a world of its own; they mostly wait for the dead to be found out. */
const AT_ONCE = 2;
const AT_ONCE_QUICK = 3;
/** Of the points of a flow, with `--quick`. */
const QUICK_STRIDE = 9;
/** The one flow that meets stopped workers with `--quick`. */
const QUICK_ZOMBIE = 'deposit';
/** Left out with `--quick`, unless named: their activities are those of other flows, or a statement or two. */
const NOT_QUICK: readonly string[] = [
  ...['issuance-async', 'issuance-declined', 'issuance-decision', 'issuance-link'],
  ...['card-freeze', 'card-lost', 'balance-rebase', 'balance-drain'],
];

const options = readDrillOptions(process.argv.slice(2));
const wanted = (name: string) => options.flows?.includes(name) ?? !(options.quick && NOT_QUICK.includes(name));
const known = [...FLOWS.map(({ name }) => name), 'load', 'controls'];
const unknown = options.flows?.filter((name) => !known.includes(name)) ?? [];
if (unknown.length > 0) throw new Error(`No such flow: ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
// The support of tests asks Jest for the name of its file.
Object.assign(globalThis, { expect: { getState: () => ({ testPath: 'drill.test.ts' }) } });

process.exitCode = (await drill(options)) ? 0 : 1;

async function drill(how: DrillOptions): Promise<boolean> {
  say(`drill: seed ${how.seed}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, ${new Date().toISOString()}`);
  const servers = await startDrillServers(process.env);
  Object.assign(process.env, servers.environment);
  const bundle = await bundleImpatient();
  try {
    const rows = await drillFlows(
      FLOWS.filter(({ name }) => wanted(name)),
      how,
      bundle.path,
    );
    if (wanted('load') && how.points === null) {
      const { seed, minutes } = how;
      const tally = await runKills({ servers, bundlePath: bundle.path, seed, minutes, say });
      rows.push({ name: 'load', tally });
    }
    const together = atOnce(how);
    const planted =
      wanted('controls') && how.points === null
        ? await runControls(bundle.path, { quick: how.quick, atOnce: together, say })
        : [];
    const controls = { caught: planted.filter(({ caught }) => caught !== null).length, planted: planted.length };
    const failures = listFailures(rows);
    for (const failure of failures) say(failure);
    say(makeTable(rows, controls));
    return failures.length === 0 && controls.caught === controls.planted;
  } finally {
    bundle.remove();
    await servers.stop();
  }
}

async function drillFlows(flows: readonly Flow[], how: DrillOptions, bundlePath: string): Promise<Row[]> {
  // The slowest first: those that hold one subject at a time.
  const left = flows.toSorted((a, b) => a.atOnce - b.atOnce);
  const tallies = new Map<string, Tally>();
  await eachAtOnce(left, atOnce(how), async (flow) => {
    const began = Date.now();
    tallies.set(flow.name, await drillFlow(flow, how, bundlePath));
    say(`  ${flow.name}: ${((Date.now() - began) / 1_000).toFixed(0)} s`);
  });
  return flows.map(({ name }) => ({ name, tally: tallies.get(name) ?? emptyTally() }));
}

async function drillFlow(flow: Flow, how: DrillOptions, bundlePath: string): Promise<Tally> {
  const world = await openWorkerWorld({ settings: flow.settings ?? {}, pert: flow.pert ?? false });
  try {
    const stride = how.quick ? QUICK_STRIDE : 1;
    const zombies = !how.quick || flow.name === QUICK_ZOMBIE;
    return await runCells(flow, world, { bundlePath, points: how.points, stride, seed: how.seed, zombies, say });
  } catch (error) {
    const failed = emptyTally();
    failed.voids.push({ what: String(error), repeat: `npm run drill -- --flow ${flow.name} --seed ${how.seed}` });
    return failed;
  } finally {
    await world.close();
  }
}

function atOnce({ quick }: DrillOptions): number {
  return quick ? AT_ONCE_QUICK : AT_ONCE;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
