import { type AppliedDeposit, applyDeposits, type DepositStatement } from '../../src/db/apply-deposits.js';
import { takeReadTicket } from '../../src/db/read-tickets.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { DepositModel, type ModelReading } from './deposit-model.js';
import { type DepositWorld, type MadeAddress, SOURCE } from './deposit-world.js';
import { chanceOf } from './journal-histories.js';

/** What is compared: the model's word and the database's, or null. */
export interface ComparedHistories {
  readonly difference: string | null;
  readonly met: ReadonlyMap<string, number>;
  readonly credits: number;
  readonly total: bigint;
}

interface Read {
  readonly ticket: bigint;
  readonly modelTicket: number;
  readonly readings: readonly ModelReading[];
}

/**
 * Plays random histories side by side, one reading each per step, as pages. A page arrives alone, or is overtaken by
 * the next one, comes twice as one answer, is read again, or comes in two halves at once. Two neighbours in four share
 * one output.
 */
export async function playHistories(
  world: DepositWorld,
  at: MadeAddress,
  input: { run: string; seed: number; histories: number; steps: number },
): Promise<ComparedHistories> {
  const chance = chanceOf(input.seed);
  const codes = Array.from({ length: input.histories }, () =>
    Array.from({ length: input.steps }, () => chance(100_000)),
  );
  const model = new DepositModel();
  const count = (what: string) => model.met.set(what, (model.met.get(what) ?? 0) + 1);
  let held: Read | null = null;
  const last = new Map<string, ModelReading>();
  for (let step = 0; step < input.steps; step += 1) {
    const how = chance(10);
    const readings = codes.map((own, n) => readingOf({ run: input.run, n, step, codes: own }, last));
    const read = await begin(world, model, readings);
    if (how < 2 && held === null) {
      held = read;
      continue;
    }
    if (how === 6) count('at once');
    if (how === 7) count('repeated');
    if (held) count('overtaken');
    const first = how === 6 ? [halfOf(read, 0), halfOf(read, 1)] : [read];
    const after = [...(how === 7 ? [read] : []), ...(held ? [held] : [])];
    held = null;
    const difference = (await applyAll(world, at, { model, first, after })) ?? (await compare(world, model));
    if (difference) return { difference: `step ${step}: ${difference}`, ...resultOf(model) };
    if (how === 8) {
      count('read again');
      const again = await begin(world, model, readings);
      const other = (await applyAll(world, at, { model, first: [again], after: [] })) ?? (await compare(world, model));
      if (other) return { difference: `step ${step}, read again: ${other}`, ...resultOf(model) };
    }
  }
  return { difference: null, ...resultOf(model) };
}

function resultOf({ met, credits, total }: DepositModel) {
  return { met, credits, total };
}

async function begin(world: DepositWorld, model: DepositModel, readings: readonly ModelReading[]): Promise<Read> {
  return { ticket: await takeReadTicket(queriesOf(world.pool)), modelTicket: model.ticket(), readings };
}

// Neighbours stay together, for they may share an output and the model knows no chance.
function halfOf(read: Read, half: number): Read {
  return { ...read, readings: read.readings.filter((_, n) => Math.floor(n / 2) % 2 === half) };
}

/** `first` are applied at once, `after` one after the other. */
async function applyAll(
  world: DepositWorld,
  at: MadeAddress,
  { model, first, after }: { model: DepositModel; first: readonly Read[]; after: readonly Read[] },
): Promise<string | null> {
  const applied = await Promise.all(first.map((read) => apply(world, at, read)));
  for (const read of after) applied.push(await apply(world, at, read));
  const reads = [...first, ...after];
  for (const [n, read] of reads.entries()) {
    for (const [place, reading] of read.readings.entries()) {
      const counted = model.apply(read.modelTicket, reading);
      const outcome = applied[n]?.[place]?.outcome;
      if (counted === (outcome === 'stale'))
        return `${reading.ref} is ${outcome}, model ${counted ? 'applied' : 'stale'}`;
    }
  }
  return null;
}

function apply(world: DepositWorld, at: MadeAddress, read: Read): Promise<AppliedDeposit[]> {
  const statements = read.readings.map((reading) => statementOf(at, reading));
  const batch = { source: SOURCE, statements, ticket: read.ticket, actor: 'worker:custody', traceId: newTraceId() };
  return inTransaction(world.pool, (tx) => applyDeposits(tx, { ...batch, refused: new Map() }));
}

function statementOf(at: MadeAddress, { ref, ...reading }: ModelReading): DepositStatement {
  const fixed = { network: 'tron', asset: 'USDT-TRC20', settlement: null };
  return { ref, address: at.address, tag: null, providerStatus: reading.status, reading: { ...reading, ...fixed } };
}

async function compare(world: DepositWorld, model: DepositModel): Promise<string | null> {
  const { rows } = await world.owner.query<{ ref: string; word: string }>(
    `select provider_ref as ref,
       concat_ws(' ', state, 'g' || generation, 'v' || version, '+' || credited_amount, '!' || flag) as word from sverka.deposit where provider_ref = any ($1)`,
    [[...model.deposits.keys()]],
  );
  const found = new Map(rows.map(({ ref, word }) => [ref, word]));
  for (const [ref, { state, generation, version, credited, flag }] of model.deposits) {
    const parts = [state, `g${generation}`, `v${version}`, credited && `+${credited}`, flag && `!${flag}`];
    const word = parts.filter(Boolean).join(' ');
    if (found.get(ref) !== word) return `${ref} is "${found.get(ref)}", model "${word}"`;
  }
  return null;
}

/** One number becomes what the custodian states: mostly that it waits, sometimes an end, sometimes nonsense. */
function readingOf(
  { run, n, step, codes }: { run: string; n: number; step: number; codes: readonly number[] },
  last: Map<string, ModelReading>,
): ModelReading {
  const ref = `cdp_${run}_${n}`;
  const code = codes[step] ?? 0;
  const before = last.get(ref);
  const shared = n % 4 < 2 ? n - (n % 2) : n;
  const amount = `${1 + (shared % 7)}.5`;
  // Each deposit has a temper: some wait for long, some end at once.
  const patience = 4 + ((codes[0] ?? 0) % 5) * 12;
  const plain = { ref, txHash: `${run} ${shared}`, outputIndex: 0, amount };
  const reading = ((): ModelReading => {
    if (before && code % 5 === 0) return before;
    const kind = code % 97;
    if (step < patience && kind < 70) return { ...plain, status: kind % 2 === 0 ? 'seen' : 'confirming' };
    if (kind < 30) return { ...plain, status: 'completed' };
    if (kind < 50) return { ...plain, status: 'confirming' };
    if (kind < 60) return { ...plain, status: 'replaced' };
    if (kind < 63) return { ...plain, status: 'failed' };
    if (kind < 70) return { ...plain, status: 'mystery' };
    if (kind < 72) return { ...plain, status: 'completed', amount: '2.00000001' };
    if (kind < 75) return { ...plain, status: 'completed', amount: '9' };
    if (kind < 77) return { ...plain, status: 'completed', txHash: `${run} other ${n}` };
    if (kind < 78) return { ...plain, status: 'completed', txHash: null };
    if (kind < 79) return { ...plain, status: 'completed', amount: '0.0' };
    if (kind < 84) return { ...plain, status: 'completed', amount: `${amount}00` };
    return { ...plain, status: 'confirming' };
  })();
  last.set(ref, reading);
  return reading;
}
