import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { REPOSITORY } from '../../src/local/paths.js';
import { testTemporal } from '../support/test-temporal.js';
import { bundleMutant } from '../support/worker-mutants.js';
import type { RecordedHistory } from '../support/worker-recorder.js';
import { installRuntime } from '../support/worker-world.js';

// Made by scripts/record-histories.mjs in earlier commits; no test writes them.
const FOLDER = join(REPOSITORY, 'test/replay/histories');
const NAMES = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));

const REFUSED = 'DeterminismViolationError';

type Events = RecordedHistory['history']['events'];

beforeAll(installRuntime);

function load(name: string): RecordedHistory {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
}

/** Name of the error that the replay ended with, or null when the code does what it did then. */
async function replay({ workflowId, history }: RecordedHistory, codePath = testTemporal().bundlePath) {
  try {
    await Worker.runReplayHistory({ workflowBundle: { codePath } }, history, workflowId);
    return null;
  } catch (error) {
    return error instanceof Error ? error.name : 'unknown';
  }
}

test('there is a history of every workflow', () => {
  const types = NAMES.map((name) => {
    const started = load(name).history.events[0]?.workflowExecutionStartedEventAttributes;
    return (started as { workflowType: { name: string } }).workflowType.name;
  });
  expect([...new Set(types)].sort()).toEqual([
    'balanceSync',
    'cardChange',
    'cardLoad',
    'deposit',
    'depositAddress',
    'depositReconcile',
    'inboxSweep',
    'issuance',
    'issuanceReconcile',
    'withdrawal',
  ]);
});

test.each(NAMES)('%s is replayed by the present code [CASES L01]', async (name) => {
  expect(await replay(load(name))).toBeNull();
});

test.each([
  ['deposit-nudged', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['deposit-address-lost', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['card-load-lost', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['card-change-told-again', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['card-change-superseded', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['issuance-found', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['issuance-continues', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['issuance-continued', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['balance-first-load', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['balance-check-failed', ['UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', 'TIMER_STARTED']],
  ['deposit-parked-open', ['ACTIVITY_TASK_SCHEDULED', 'TIMER_STARTED']],
] as const)('%s with its commands in another order is refused', async (name, [first, second]) => {
  const recorded = load(name);
  const changed = name === 'deposit-parked-open' ? withTimer(recorded) : swapped(recorded, first, second);
  expect(await replay(changed)).toBe('DeterminismViolationError');
});

test('code that does something else first is refused by what it did then', async () => {
  const mutant = await bundleMutant([
    {
      file: 'deposit.ts',
      from: '    const seen = await providerReadDeposit(',
      to: '    await condition(() => false, 1);\n    const seen = await providerReadDeposit(',
    },
  ]);
  for (const name of NAMES.filter((each) => /^deposit-(?!address|reconcile)/.test(each))) {
    expect([name, await replay(load(name), mutant.path)]).toEqual([name, 'DeterminismViolationError']);
  }
  expect(await replay(load('deposit-reconcile'), mutant.path)).toBeNull();
  mutant.remove();
});

test('a create that is sent before its intent is committed is refused by what was done then', async () => {
  const mutant = await bundleMutant([
    {
      file: 'issuance.ts',
      from: '    seen = await databaseSubmitIssuance({ id, runId, traceId: nudged.traceId, ...after });',
      to: `    seen = await create({}, { id, runId, tries: 0, nudged, provider });
    if (after.after) seen = await databaseSubmitIssuance({ id, runId, traceId: nudged.traceId, ...after });`,
    },
  ]);
  // Of one that was refused nothing is followed.
  const followed = NAMES.filter((each) => /^issuance-(?!reconcile|refused)/.test(each));
  expect(followed).toHaveLength(11);
  for (const name of followed) {
    expect([name, await replay(load(name), mutant.path)]).toEqual([name, 'DeterminismViolationError']);
  }
  expect(await replay(load('issuance-refused'), mutant.path)).toBeNull();
  mutant.remove();
});

test('a run that goes on in a fresh one at another step is refused by what was done then', async () => {
  const mutant = await bundleMutant([
    { file: 'issuance.ts', from: 'const STEPS_PER_RUN = 100;', to: 'const STEPS_PER_RUN = 90;' },
  ]);
  expect(await replay(load('issuance-continues'), mutant.path)).toBe('DeterminismViolationError');
  expect(await replay(load('issuance-continued'), mutant.path)).toBeNull();
  mutant.remove();
});

test('a mirror whose drain waits for its check is refused by what was done then', async () => {
  const mutant = await bundleMutant([
    {
      file: 'balance-sync.ts',
      from: 'if (!checking && Date.now() >= checkAt) void check();',
      to: 'if (!checking && Date.now() >= checkAt) await check();',
    },
  ]);
  // The run that was continued has drained nothing yet.
  const mirrors = NAMES.filter((each) => /^balance-(?!continued)/.test(each));
  expect(mirrors).toHaveLength(5);
  for (const name of mirrors) expect([name, await replay(load(name), mutant.path)]).toEqual([name, REFUSED]);
  expect(await replay(load('deposit-final'), mutant.path)).toBeNull();
  mutant.remove();
});

test('a mirror that goes on in a fresh run at another event is refused by what was done then', async () => {
  const mutant = await bundleMutant([
    { file: 'run-length.ts', from: 'const EVENTS_PER_RUN = 400;', to: 'const EVENTS_PER_RUN = 300;' },
  ]);
  expect(await replay(load('balance-continues'), mutant.path)).toBe(REFUSED);
  expect(await replay(load('balance-continued'), mutant.path)).toBeNull();
  mutant.remove();
});

/** The next two commands of these kinds that stand side by side change their places; ids stay in order. */
function swapped(recorded: RecordedHistory, first: string, second: string): RecordedHistory {
  const events = [...recorded.history.events];
  const at = events.findIndex((event, n) => isOf(event, first) && isOf(events[n + 1], second));
  const [one, two] = [events[at], events[at + 1]];
  if (!one || !two) throw new Error(`No ${first} stands before a ${second}; record another history.`);
  events.splice(at, 2, { ...two, eventId: one.eventId }, { ...one, eventId: two.eventId });
  return { ...recorded, history: { events } };
}

/** Where an activity was asked for, a timer was set. */
function withTimer(recorded: RecordedHistory): RecordedHistory {
  const isFirst = (event: Events[number]) => isOf(event, 'ACTIVITY_TASK_SCHEDULED');
  const at = recorded.history.events.findIndex(isFirst);
  const events = recorded.history.events.slice(0, at + 1).map((event, n) => {
    if (n !== at) return event;
    const { activityTaskScheduledEventAttributes, ...rest } = event;
    const { workflowTaskCompletedEventId } = activityTaskScheduledEventAttributes as Record<string, unknown>;
    const timerStartedEventAttributes = { timerId: '1', startToFireTimeout: '1s', workflowTaskCompletedEventId };
    return { ...rest, eventType: 'EVENT_TYPE_TIMER_STARTED', timerStartedEventAttributes };
  });
  return { ...recorded, history: { events } };
}

function isOf(event: Events[number] | undefined, type: string): boolean {
  return event?.eventType === `EVENT_TYPE_${type}`;
}
