import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../../src/local/paths.js';
import { clearPayloads } from '../support/clear-texts.js';
import type { RecordedHistory } from '../support/worker-recorder.js';

const FOLDER = join(REPOSITORY, 'test/replay/histories');
const NAMES = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));

/**
 * Every member that a payload of a recorded history has. Add one here with the workflow that brings it, and only for
 * an id, a state, an amount, a time, a count or a word of ours: whatever a person or an outside party wrote (a name, a
 * document, a card's data, a body, an error's text) stays in the database, and an activity reads it by its id.
 */
const MEMBERS = [
  // Ids, and what a merchant or a provider calls a thing.
  ...['account', 'customerRef', 'depositId', 'fingerprint', 'id', 'key', 'merchantId', 'provider', 'ref', 'traceId'],
  ...['cardholderId', 'cardId', 'issuanceId', 'loadId', 'runId', 'after', 'number'],
  // Words of ours.
  ...['asset', 'book', 'code', 'method', 'network', 'outcome', 'path', 'reason', 'settlementAsset', 'settlementMode'],
  ...['state', 'type', 'product', 'next', 'kind', 'route'],
  // Minor units, as text.
  ...['load', 'amount'],
  // Times and spans.
  ...['absentMs', 'absentSince', 'beganAt', 'checkMs', 'waitMs'],
  // Counts and answers.
  ...[
    'changed',
    'claimed',
    'ended',
    'failed',
    'full',
    'items',
    'looks',
    'made',
    'mayCreateAgain',
    'more',
    'needsOperator',
  ],
  ...['pages', 'tries', 'unmatched', 'unreadable', 'generation', 'read', 'told'],
  ...['bad', 'moved', 'nudged', 'result', 'stale'],
  // Parts, and the one sentence: what a refusal says to the merchant, in our own words.
  ...['closed', 'request', 'refusal', 'resource', 'detail', 'accepted', 'resumed', 'seen'],
];

/** An id, a state, a decimal number, a time, a path: nothing with a space in it, and nothing long. */
const WORD = /^[A-Za-z0-9._:/+-]{0,128}$/;
/** Texts for people, ours alone; filled with words. */
const SENTENCE = /^[A-Za-z][A-Za-z0-9 ,._:'-]{0,160}$/;
/** Where a sentence may stand. */
const FOR_PEOPLE = /^detail$|^userMetadata\.summary$/;
/** So many digits in a row, alone, are a card's number to whoever looks for one. */
const DIGITS = /^[0-9]{12,19}$/;

function load(name: string): RecordedHistory {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
}

/** Each member and each text of a payload that should not be in one. */
function problemsOf(history: RecordedHistory): string[] {
  return clearPayloads(history).flatMap(({ at, value }) => valueProblems(at, value));
}

function valueProblems(at: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => valueProblems(at, each));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, inside]) => [
      ...(MEMBERS.includes(name) ? [] : [`member ${name} in ${at}`]),
      ...valueProblems(name, inside),
    ]);
  }
  if (typeof value !== 'string') return [];
  const isFine = FOR_PEOPLE.test(at) ? SENTENCE.test(value) : WORD.test(value) && !DIGITS.test(value);
  return isFine ? [] : [`text in ${at}`];
}

/** A history whose start was given this. */
function startedWith(input: unknown): RecordedHistory {
  const data = Buffer.from(JSON.stringify(input)).toString('base64');
  const payloads = [{ metadata: { encoding: Buffer.from('json/plain').toString('base64') }, data }];
  return {
    workflowId: 'w',
    history: { events: [{ workflowExecutionStartedEventAttributes: { input: { payloads } } }] },
  };
}

test.each(NAMES)('payloads of %s are ids, states, amounts, times and counts', (name) => {
  const history = load(name);
  expect(clearPayloads(history).length).toBeGreaterThan(3);
  expect(problemsOf(history)).toEqual([]);
});

test('no member is allowed that no history has', () => {
  const found = new Set(NAMES.flatMap((name) => clearPayloads(load(name)).flatMap(({ value }) => membersOf(value))));
  expect(MEMBERS.filter((name) => !found.has(name))).toEqual([]);
});

test.each([
  ['a name', { holder: { firstName: 'Canary' } }, 'member holder'],
  ['a name under a member that is allowed', { ref: 'Canary Canary' }, 'text in ref'],
  ['a card number', { ref: '4111111111111111' }, 'text in ref'],
  ['a raw body', { reason: '{"error":"declined"}' }, 'text in reason'],
  ['a text of a stranger', { detail: 'Holder <b>refused</b>' }, 'text in detail'],
])('%s would be seen', (_, input, problem) => {
  expect(problemsOf(startedWith(input)).join()).toContain(problem);
  expect(problemsOf(startedWith({ ref: 'dep_01m8n0wg4ye6zs5v80yc2vvg35', state: 'final' }))).toEqual([]);
});

function membersOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap((each) => membersOf(each));
  return Array.isArray(value) ? inside : [...Object.keys(value), ...inside];
}
