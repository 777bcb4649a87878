import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, ReplayError, Worker } from '@temporalio/worker';
import { createDataConverter } from '../../src/client/data-converter.js';
import { REPOSITORY } from '../../src/local/paths.js';
import { clearPayloads, clearTexts } from '../support/clear-texts.js';
import { type PayloadKeysFile, payloadKeysFile } from '../support/payload-keys.js';
import { testTemporal } from '../support/test-temporal.js';
import { type RecordedHistory, recordHistories } from '../support/worker-recorder.js';
import { installRuntime } from '../support/worker-world.js';

/** Recorded in clear, by earlier commits. */
const COMMITTED = join(REPOSITORY, 'test/replay/histories');

let keys: PayloadKeysFile;
let recorded: ReadonlyMap<string, RecordedHistory>;
/** What workers said was wrong: in the history itself the reason is encrypted, too. */
const said: string[] = [];
beforeAll(async () => {
  installRuntime(new DefaultLogger('ERROR', ({ meta }) => said.push(String(meta?.['error']))));
  keys = payloadKeysFile('k1', ['k1']);
  recorded = await recordHistories({ SVERKA_PAYLOAD_KEYS_FILE: keys.path });
});
afterAll(() => keys?.remove());

/** Null when the history is replayed, else what the worker says. */
async function replay({ workflowId, history }: RecordedHistory, file?: string): Promise<string | null> {
  const dataConverter = createDataConverter({ SVERKA_PAYLOAD_KEYS_FILE: file });
  const workflowBundle = { codePath: testTemporal().bundlePath };
  try {
    await Worker.runReplayHistory({ workflowBundle, dataConverter }, history, workflowId);
    return null;
  } catch (error) {
    return error instanceof ReplayError ? (said.at(-1) ?? null) : String(error);
  }
}

/** The same with a file of these keys. */
async function replayWith(history: RecordedHistory, current: string | null, ids: readonly string[]) {
  const file = payloadKeysFile(current, ids);
  try {
    return await replay(history, file.path);
  } finally {
    file.remove();
  }
}

function one(name: string): RecordedHistory {
  const history = recorded.get(name);
  if (!history) throw new Error(`No history ${name} was recorded; there are ${[...recorded.keys()].join(', ')}.`);
  return history;
}

/** What may be read by whoever reads the store: words of the protocol, ids, and names of ours; nothing of a payload. */
const MAY_STAND_IN_CLEAR = [
  /^eventType$|^eventId$|^eventTime$|^taskId$|^version$|^links\./,
  /(EventId|Id|Timeout|Time|TimeoutType|Version|Bytes|Flags|attempt|Attempt|Interval|Coefficient|Backoff|identity)$/,
  /\.(workflowType|activityType|taskQueue)\.(name|kind|normalName)$|\.sdkMetadata\.|\.retryPolicy\./,
  /\.signalName$|\.acceptedRequest\.(meta|input)\.(updateId|identity|name)$|\.(meta|acceptedRequest)\./,
  /\.searchAttributes\.indexedFields\.Sverka(Kind|State|Merchant|Ref|Book|NeedsOperator)$/,
  /\.(lastFailure|failure)\.(message|source|applicationFailureInfo\.type)$|retryState$/,
  /\.(encoding|encryption-key-id|encryption-subject)$/,
];

test('of encrypted histories only the words of the protocol, ids and search attributes can be read', () => {
  expect([...recorded.keys()].sort()).toEqual(
    readdirSync(COMMITTED)
      .map((file) => file.replace('.json', ''))
      // Hundreds of steps, each of which stands in the others: recorded by scripts/record-histories.mjs alone.
      .filter((name) => !/^(issuance|balance)-continue[ds]$/.test(name))
      .sort(),
  );
  for (const [name, history] of recorded) {
    const others = clearTexts(history).filter(({ at }) => !MAY_STAND_IN_CLEAR.some((allowed) => allowed.test(at)));
    expect([name, others]).toEqual([name, []]);
    const payloads = clearPayloads(history).filter(({ at }) => !at.includes('.searchAttributes.'));
    expect([name, payloads]).toEqual([name, []]);
  }
});

test('messages of failures are encrypted, in the recorded history that has one', () => {
  const texts = clearTexts(one('deposit-read-failed'));
  const failure = texts.filter(({ at }) => at.includes('.lastFailure.'));
  expect(failure).toContainEqual({
    at: 'activityTaskStartedEventAttributes.lastFailure.message',
    text: 'Encoded failure',
  });
  expect(failure.map(({ at }) => at)).toContainEqual(expect.stringMatching(/encodedAttributes\.encryption-key-id$/));
  expect(failure.map(({ at }) => at)).not.toContainEqual(expect.stringMatching(/stackTrace$/));
});

test('the same look finds inputs, results, summaries and messages in histories that are not encrypted', () => {
  const files = readdirSync(COMMITTED).map((file) => readFileSync(join(COMMITTED, file), 'utf8'));
  const found = files.flatMap((text) => clearTexts(JSON.parse(text)));
  const others = found.filter(({ at }) => !MAY_STAND_IN_CLEAR.some((allowed) => allowed.test(at)));
  const places = new Set(others.map(({ at }) => at));
  expect([...places]).toEqual(
    expect.arrayContaining([
      'workflowExecutionStartedEventAttributes.input.payloads',
      'activityTaskScheduledEventAttributes.input.payloads',
      'activityTaskCompletedEventAttributes.result.payloads',
      'workflowExecutionSignaledEventAttributes.input.payloads',
      'workflowExecutionUpdateCompletedEventAttributes.outcome.success.payloads',
      'workflowExecutionCompletedEventAttributes.result.payloads',
      'activityTaskStartedEventAttributes.lastFailure.stackTrace',
      'userMetadata.summary',
    ]),
  );
});

test('every encrypted history is replayed with its key, and its workflow is named in its payloads', async () => {
  for (const [name, history] of recorded) {
    expect([name, await replay(history, keys.path)]).toEqual([name, null]);
    const subjects = clearTexts(history).filter(({ at }) => at.endsWith('.encryption-subject'));
    expect([name, new Set(subjects.map(({ text }) => text))]).toEqual([name, new Set([history.workflowId])]);
  }
});

test('an old history is replayed after another key has become the one that encrypts', async () => {
  expect(await replayWith(one('deposit-final'), 'k2', ['k1', 'k2'])).toBeNull();
  expect(await replayWith(one('inbox-sweep-open'), 'k2', ['k1', 'k2'])).toBeNull();
});

test('keys that only decrypt replay what was encrypted, and keys replay a history in clear', async () => {
  expect(await replayWith(one('deposit-final'), null, ['k1'])).toBeNull();
  const inClear = JSON.parse(readFileSync(join(COMMITTED, 'deposit-final.json'), 'utf8'));
  expect(await replay(inClear, keys.path)).toBeNull();
});

test('without its key a history is refused, and the error says what to do', async () => {
  const history = one('deposit-final');
  expect(await replay(history)).toMatch(/this process has no keys: set SVERKA_PAYLOAD_KEYS_FILE/);
  const without = await replayWith(history, 'k2', ['k2']);
  expect(without).toMatch(/encrypted with key k1, and SVERKA_PAYLOAD_KEYS_FILE holds only k2: put it back/);
});

test('another key under the same id is refused, and the error says what to do', async () => {
  const other = payloadKeysFile('k1', ['k1']);
  other.writeKeys({ k1: 'not the key that encrypted' });
  expect(await replay(one('deposit-final'), other.path)).toMatch(/does not open with key k1 [^]*restore the one/);
  other.remove();
});

test('a history under the id of another workflow is refused: its payloads were moved', async () => {
  const moved = { ...one('deposit-final'), workflowId: 'deposit:live:custody:another' };
  expect(await replay(moved, keys.path)).toMatch(/made for the workflow deposit:live:custody:[^ ]+ and stands in/);
});
