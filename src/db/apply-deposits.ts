import { type DepositRecord } from '../contracts/deposit.js';
import { type DepositReading } from '../domain/deposit.js';
import { type DepositChoice } from '../domain/deposit-decision.js';
import { raiseAlert, resolveAlert } from './alerts.js';
import { bookDeposits, type DepositBooking, depositMovementId } from './book-deposits.js';
import { closeDecision, openDecisions } from './decisions.js';
import { holdPlaces } from './deposit-addresses.js';
import { depositEvent } from './deposit-event.js';
import {
  type AddressOfDeposit,
  type BookedOutput,
  bookedOutputs,
  type DepositNote,
  type DepositSource,
  type DepositStep,
  type FoundDeposit,
  findAddresses,
  insertNoticed,
  lockDeposits,
  noteReadings,
  readAddressTerms,
  stepDeposits,
} from './deposits.js';
import { insertEvents, type NewEvent } from './events.js';
import type { Tx } from './transaction.js';
import {
  addBooked,
  type BookedByOutput,
  bookedNow,
  type DepositDecision,
  outputOf,
  type WeighedDeposit,
  weighDeposit,
} from './weigh-deposits.js';

/** One record as the custodian states it, and where it arrived. */
export interface DepositStatement {
  /** The custodian's id of the deposit. */
  readonly ref: string;
  readonly address: string;
  readonly tag: string | null;
  /** The status exactly as sent. */
  readonly providerStatus: string;
  readonly reading: DepositReading;
}

export interface DepositBatch {
  readonly source: DepositSource;
  readonly statements: readonly DepositStatement[];
  /** Taken before the read began. */
  readonly ticket: bigint;
  readonly actor: string;
  readonly traceId: string;
  /** Deposits that the journal refused before, by ref, with the reason: they are parked. */
  readonly refused: ReadonlyMap<string, string>;
  /** Locks the notifications that this apply settles: before any deposit (DESIGN 10). */
  readonly lockInbox?: (tx: Tx) => Promise<void>;
  /** What commits together with it, given what came of each: before the money, whose locks are held for the least. */
  readonly alongside?: (tx: Tx, applied: readonly AppliedDeposit[]) => Promise<void>;
}

export interface AppliedDeposit {
  readonly ref: string;
  /** `stale`: its read began before the last apply, read again. `unmatched`: the address is not ours (yet). */
  readonly outcome: 'changed' | 'unchanged' | 'stale' | 'unmatched';
  /** How it stood before; null when it is new, or unmatched. */
  readonly before: DepositRecord['state'] | null;
  /** As it is now; null when unmatched. */
  readonly record: DepositRecord | null;
}

/** What a waiting notification of this place is woken by, when the address appears. */
export function depositPlace(place: { address: string; tag: string | null }): string {
  return `address:${place.address}|${place.tag ?? ''}`;
}

/**
 * The one apply function of deposits: webhook, poll, reconciliation and operator alike; running it again changes
 * nothing. In the caller's transaction: the rows, their audit and events, the alerts, and last of all one `post`.
 * Throws `BookingRefused` when the journal cannot take one of them, and `Retryable`.
 */
export async function applyDeposits(tx: Tx, batch: DepositBatch): Promise<AppliedDeposit[]> {
  const { found, locked, added } = await lockAll(tx, batch);
  const booked = await bookedBefore(tx, batch.source, found);
  const decisions = await decisionsOn(tx, [...locked.values()]);
  const work: WeighedDeposit[] = [];
  for (const item of found) {
    const record = locked.get(item.ref);
    if (!record) continue;
    // Until it is completed it may still come to nothing, whatever stands beside it.
    const others = booked.get(outputOf(item.reading))?.filter((other) => other.id !== record.id) ?? [];
    const copied = item.reading.status === 'completed' ? others.find(isCredited) : undefined;
    const before = added.has(item.ref) ? null : record.state;
    const decision = decisions.get(record.id) ?? null;
    const takenBack = others.filter((other) => !isCredited(other));
    const taken = Math.max(-1, ...takenBack.map(({ generation }) => generation));
    const known = { record, copied, decision, firstGeneration: taken + 1 };
    const weighed: WeighedDeposit = {
      ...weighDeposit({ ticket: batch.ticket, refusal: batch.refused.get(item.ref) }, item, known),
      before,
    };
    work.push(weighed);
    // A second record of the same output further down this batch is a copy of this one.
    if (isFresh(weighed) && weighed.plan.credit) addBooked(booked, bookedNow(weighed));
  }

  // Each apply keeps its ticket, also one that changes nothing: an older answer must not undo it.
  const noted = new Map(
    (await noteReadings(tx, work.filter(isFresh).map(toNote))).map((record) => [record.id, record]),
  );
  for (const item of work) item.record = noted.get(item.record.id) ?? item.record;
  const moving = work.filter((item) => item.outcome === 'changed');
  await walkAll(tx, batch, moving);
  await tellPeople(tx, batch, moving);
  await closeDecisions(tx, batch, work.filter(isFresh));
  const applied = resultsOf(batch, work);
  await batch.alongside?.(tx, applied);
  await bookDeposits(tx, moving.flatMap(bookingOf), batch);
  return applied;
}

function resultsOf(batch: DepositBatch, work: readonly WeighedDeposit[]): AppliedDeposit[] {
  const weighed = new Map(work.map((item) => [item.found.ref, item]));
  return batch.statements.map(({ ref }) => {
    const item = weighed.get(ref);
    return item
      ? { ref, outcome: item.outcome, before: item.before, record: item.record }
      : { ref, outcome: 'unmatched', before: null, record: null };
  });
}

/** Locks what is known, and notices what is new where the address is ours: the owner always comes from the address. */
async function lockAll(tx: Tx, batch: DepositBatch) {
  // A deposit that changed twice stands twice in a page: the later statement counts.
  const statements = [...new Map(batch.statements.map((statement) => [statement.ref, statement])).values()];
  const locked = new Map<string, DepositRecord>();
  const lock = async (refs: readonly string[]) => {
    for (const record of await lockDeposits(tx, batch.source, refs)) locked.set(record.providerRef, record);
  };
  // Places, inbox, deposits: in this order everywhere, so that nobody waits in a circle (DESIGN 10).
  const places = await findPlaces(tx, batch.source, statements);
  await batch.lockInbox?.(tx);
  await lock(statements.map(({ ref }) => ref));
  const unseen = statements.flatMap((statement): FoundDeposit[] => {
    const at = places.get(depositPlace(statement));
    return at && !locked.has(statement.ref) ? [{ ...statement, place: statement, at, elsewhere: false }] : [];
  });
  const added = new Set<string>();
  if (unseen.length > 0) {
    const { source, actor, traceId } = batch;
    for (const ref of await insertNoticed(tx, source, { found: unseen, actor, traceId })) added.add(ref);
    // Ours, or those that another reader inserted while we waited for it.
    await lock(unseen.map(({ ref }) => ref));
  }
  const found = await bindToOwn(tx, statements, { locked, places });
  return { found, locked, added };
}

async function findPlaces(
  tx: Tx,
  source: DepositSource,
  statements: readonly DepositStatement[],
): Promise<Map<string, AddressOfDeposit>> {
  const byPlace = new Map<string, AddressOfDeposit>();
  const find = async (wanted: readonly DepositStatement[]) => {
    for (const address of await findAddresses(tx, source, wanted)) byPlace.set(depositPlace(address), address);
  };
  await find(statements);
  const nowhere = statements.filter((statement) => !byPlace.has(depositPlace(statement)));
  if (nowhere.length > 0) {
    // An address that is made just now must not wake what waits for it before we leave it waiting.
    await holdPlaces(tx, nowhere.map(depositPlace));
    await find(nowhere);
  }
  return byPlace;
}

/** Each known deposit with the terms of its own address; a record that names another place is told as that. */
async function bindToOwn(
  tx: Tx,
  statements: readonly DepositStatement[],
  { locked, places }: { locked: ReadonlyMap<string, DepositRecord>; places: ReadonlyMap<string, AddressOfDeposit> },
): Promise<FoundDeposit[]> {
  const known = statements.flatMap((statement) => {
    const record = locked.get(statement.ref);
    return record ? [{ statement, record, named: places.get(depositPlace(statement)) }] : [];
  });
  const elsewhere = known.filter(({ record, named }) => named?.id !== record.depositAddressId);
  const ids = elsewhere.map(({ record }) => record.depositAddressId);
  const own = new Map((ids.length === 0 ? [] : await readAddressTerms(tx, ids)).map((terms) => [terms.id, terms]));
  return known.map(({ statement, record, named }) => {
    const at = named?.id === record.depositAddressId ? named : own.get(record.depositAddressId);
    if (!at) throw new Error(`Deposit ${record.id} belongs to an address that is not there.`);
    return { ...statement, place: statement, at, elsewhere: at !== named };
  });
}

async function bookedBefore(tx: Tx, source: DepositSource, found: readonly FoundDeposit[]): Promise<BookedByOutput> {
  const outputs = found.flatMap(({ reading: { txHash, outputIndex } }) =>
    txHash !== null && outputIndex !== null ? [{ txHash, outputIndex }] : [],
  );
  const booked: BookedByOutput = new Map();
  const rows = outputs.length === 0 ? [] : await bookedOutputs(tx, source, outputs);
  for (const row of rows) addBooked(booked, row);
  return booked;
}

function isCredited({ state }: BookedOutput): boolean {
  return state === 'credited' || state === 'final';
}

async function decisionsOn(tx: Tx, records: readonly DepositRecord[]): Promise<Map<string, DepositDecision>> {
  const ids = records.map(({ id }) => id);
  const open = ids.length === 0 ? [] : await openDecisions<DepositChoice>(tx, { type: 'deposit', ids });
  // Should there be two, the later one comes up at the next read, and no longer fits.
  return new Map(open.toReversed().map((decision) => [decision.subjectId, decision]));
}

async function closeDecisions(tx: Tx, batch: DepositBatch, work: readonly WeighedDeposit[]): Promise<void> {
  for (const { decided } of work) {
    if (decided) await closeDecision(tx, decided.by, { ...decided, traceId: batch.traceId });
  }
}

function isFresh({ outcome }: WeighedDeposit): boolean {
  return outcome !== 'stale';
}

function bookingOf({ record, found, plan }: WeighedDeposit): DepositBooking[] {
  const { network, txHash, outputIndex, creditedAmount: amount, creditedAsset: asset } = record;
  const { generation } = plan;
  if (plan.credit !== null)
    return [{ operation: 'credit', record, reading: found.reading, generation, ...plan.credit }];
  if (!plan.moves.some((move) => move.to === 'orphaned') || amount === null || asset === null) return [];
  // What was credited, whatever the record says of the output now.
  const reading = { ...found.reading, network, txHash, outputIndex };
  return [{ operation: 'orphan', record, reading, generation, amount, asset }];
}

function toNote({ record, facts }: WeighedDeposit): DepositNote {
  return { id: record.id, ...facts };
}

/** States whose entering a merchant is told (API.md 5): one that waits for a person of ours is not. */
const TOLD: ReadonlySet<string> = new Set(['confirming', 'credited', 'final', 'orphaned', 'rejected', 'dropped']);

/** Walks all deposits step by step, a statement a step; each move leaves its audit row (by trigger), most an event. */
async function walkAll(tx: Tx, batch: DepositBatch, moving: readonly WeighedDeposit[]): Promise<void> {
  const events: NewEvent[] = [];
  const longest = Math.max(0, ...moving.map((item) => item.plan.moves.length));
  for (let place = 0; place < longest; place += 1) {
    const stepping = moving.filter((item) => item.plan.moves[place] !== undefined);
    const steps = stepping.flatMap((item) => stepOf(batch, item, place));
    const after = new Map((await stepDeposits(tx, steps, batch.traceId)).map((record) => [record.id, record]));
    for (const item of stepping) {
      const record = after.get(item.record.id);
      if (!record) throw new Error(`Deposit ${item.record.id} changed under its own lock.`);
      item.record = record;
      if (TOLD.has(record.state)) events.push(depositEvent(record, batch.traceId));
    }
  }
  await insertEvents(tx, events);
}

function stepOf(batch: DepositBatch, item: WeighedDeposit, place: number): DepositStep[] {
  const { record, plan, decided } = item;
  const move = plan.moves[place];
  if (!move) return [];
  const { to, reason } = move;
  const [booking] = to === 'credited' || to === 'orphaned' ? bookingOf(item) : [];
  const actor = move.decided && decided ? `user:${decided.by.userId}` : batch.actor;
  const credit = to === 'credited' ? plan.credit : null;
  const id = booking === undefined ? null : depositMovementId(batch.source, booking);
  return [
    { id: record.id, version: record.version, to, reason, generation: plan.generation, credit, movementId: id, actor },
  ];
}

/** What contradicts our books, or is parked, is an alert; it is resolved when nothing waits for a person any more. */
async function tellPeople(tx: Tx, batch: DepositBatch, moving: readonly WeighedDeposit[]): Promise<void> {
  // In key order, like every unique insert.
  const inOrder = [...moving].sort((a, b) => (a.record.id < b.record.id ? -1 : 1));
  for (const { record, facts, before, flagged } of inOrder) {
    const key = `deposit:${record.id}`;
    const reason = facts.flag ?? (record.state === 'parked' ? record.reason : null);
    if (reason !== null) {
      await raiseAlert(tx, {
        key,
        kind: 'deposit_needs_person',
        book: record.book,
        subject: { type: 'deposit', id: record.id },
        detail: `A deposit waits for a person (${reason}): ask the custodian, then \`sverka deposits decide\`.`,
        traceId: batch.traceId,
      });
    } else if (flagged || before === 'parked') {
      await resolveAlert(tx, key);
    }
  }
}
