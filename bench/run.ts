import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { acceptBenchmark } from './benchmarks/accept.js';
import { balanceBenchmark } from './benchmarks/balance.js';
import { changesBenchmark } from './benchmarks/changes.js';
import { depositBenchmark } from './benchmarks/deposit.js';
import { hotBenchmark } from './benchmarks/hot.js';
import { issuanceBenchmark } from './benchmarks/issuance.js';
import { liveBenchmark } from './benchmarks/live.js';
import { pagesBenchmark } from './benchmarks/pages.js';
import { postBenchmark } from './benchmarks/post.js';
import { reconcileBenchmark } from './benchmarks/reconcile.js';
import type { BenchContext, Benchmark, Size } from './support/benchmark.js';
import { describeMachine, loadNow } from './support/machine.js';
import { brokenBudgets, type Reported, renderReport } from './support/report.js';
import { startBenchServers } from './support/servers.js';

const BENCHMARKS: readonly Benchmark[] = [
  acceptBenchmark,
  postBenchmark,
  hotBenchmark,
  balanceBenchmark,
  depositBenchmark,
  issuanceBenchmark,
  reconcileBenchmark,
  pagesBenchmark,
  changesBenchmark,
  liveBenchmark,
];
const ROUNDS = { small: 5, full: 9 } as const;
const USAGE = `npm run bench -- [name …] [--size small|full] [--json FILE] [--check-costs]
${BENCHMARKS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join('\n')}
--size full takes the numbers of docs/reference/benchmarks.md and wants a machine that does nothing else.
--check-costs exits with 1 when a cost is over its budget; times are told from one round and never judged.`;

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Runs the benchmarks of the command line; answers the exit code. */
export async function runBenchmarks(args: readonly string[]): Promise<number> {
  const order = readOrder(args);
  if (typeof order === 'string') {
    say(order);
    return order === USAGE ? 0 : 2;
  }
  const load = loadNow();
  const servers = await startBenchServers({ env: process.env, say });
  // What was started beside us ends by itself when its channel closes; the servers and their folder are ours to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void servers.stop().finally(() => process.exit(130)));
  }
  try {
    const machine = await describeMachine(servers, load);
    const results: Reported[] = [];
    for (const benchmark of order.benchmarks) {
      // Costs need no second round, and times are not judged with them.
      const rounds = order.checkCosts ? 1 : ROUNDS[order.size];
      results.push(await measure(benchmark, { size: order.size, servers, rounds, say }));
    }
    process.stdout.write(`${renderReport(machine, results)}\n`);
    if (order.json !== undefined) {
      writeFileSync(order.json, `${JSON.stringify({ machine, size: order.size, results }, null, 1)}\n`);
    }
    return exitCode(results, order.checkCosts);
  } finally {
    await servers.stop();
  }
}

interface Order {
  readonly benchmarks: readonly Benchmark[];
  readonly size: Size;
  readonly json: string | undefined;
  readonly checkCosts: boolean;
}

const OPTIONS = {
  size: { type: 'string', default: 'full' },
  json: { type: 'string' },
  'check-costs': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** What is wanted, or what to say instead. */
function readOrder(args: readonly string[]): Order | string {
  const read = () => parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  let parsed: ReturnType<typeof read>;
  try {
    parsed = read();
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`;
  }
  const { values, positionals } = parsed;
  if (values.help) return USAGE;
  const { size, json, 'check-costs': checkCosts } = values;
  if (size !== 'small' && size !== 'full') return `There is no size ${size}.\n${USAGE}`;
  const unknown = positionals.find((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
  if (unknown !== undefined) return `There is no benchmark ${unknown}.\n${USAGE}`;
  const benchmarks = BENCHMARKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { benchmarks, size, json, checkCosts };
}

/** One that fails does not take the others with it. */
async function measure(benchmark: Benchmark, context: BenchContext): Promise<Reported> {
  const { name } = benchmark;
  try {
    return { name, failed: null, ...(await benchmark.run(context)) };
  } catch (error) {
    say(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
    return { name, failed: error instanceof Error ? error.message : String(error) };
  }
}

/** A benchmark that could not be measured is an error always; a cost over its budget when it was asked for. */
function exitCode(results: readonly Reported[], checkCosts: boolean): number {
  if (results.some(({ failed }) => failed !== null)) return 1;
  const broken = checkCosts ? brokenBudgets(results) : [];
  for (const line of broken) say(`Over budget: ${line}`);
  if (checkCosts && broken.length === 0) say('All costs are within their budgets.');
  return broken.length > 0 ? 1 : 0;
}

process.exitCode = await runBenchmarks(process.argv.slice(2));
