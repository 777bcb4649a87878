import { createLog } from '../../src/telemetry/log.js';
import { LOG_MEMBERS } from '../../src/telemetry/log-line.js';
import { withTrace } from '../../src/telemetry/trace.js';

const CARD = '4242424242424242';
const CARDS = [CARD, '4242 4242 4242 4242', '4242-4242-4242-4242', `card ${CARD} was used`, `pan=${CARD};cvv`];
const KEY = `sk_live_${'a1B2c3D4e5'.repeat(4)}xyz`;
const SECRETS = [KEY, `Bearer ${KEY}`, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'postgres://sverka:hunter2@db/sverka'];

function capture() {
  const lines: string[] = [];
  const log = createLog({ process: 'test', level: 'debug', stream: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

test('no card number and no key reaches a line, in whatever member it was put', () => {
  for (const canary of [...CARDS, ...SECRETS]) {
    const { log, lines } = capture();
    for (const member of [...LOG_MEMBERS, 'card', 'body', 'headers', 'authorization']) {
      log.info('A call was answered.', { [member]: canary });
      log.info('A call was answered.', { [member]: { nested: canary } });
    }
    log.error(`Refused ${canary}.`, { error: new Error(canary), code: canary });
    expect(lines).toHaveLength(2 * (LOG_MEMBERS.length + 4) + 1);
    for (const word of [CARD, '4242 4242', '4242-4242', 'a1B2c3D4', 'MfKQ9r8G', 'hunter2']) {
      expect(lines.join('')).not.toContain(word);
    }
  }
});

test('a card number that came as a number or a bigint is masked as well', () => {
  const { log, lines } = capture();
  log.info('Counted.', { count: Number(CARD), rows: BigInt(CARD), ms: 12 });
  expect(lines.join('')).not.toContain(CARD);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ count: '[masked]', rows: '[masked]', ms: 12 });
});

test('a line holds known members only, and keeps what it knows', () => {
  const { log, lines } = capture();
  const subject = 'dep_01m8mxxm1dendtgh5kmdznkxxb';
  log.info('Moved.', { subject_id: subject, state: 'credited', ms: 3, ...{ customer_name: 'Lovelace' } });
  const line = JSON.parse(lines[0] ?? '');
  expect(line).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    process: 'test',
    msg: 'Moved.',
    subject_id: subject,
    state: 'credited',
    ms: 3,
  });
});

test('an error is told as its class, its code and where it was thrown, never by its words', () => {
  const { log, lines } = capture();
  const error = Object.assign(new TypeError('quotes\n    at Lovelace (x:1:1)'), {
    code: '23505',
    detail: 'Key (name)=(Lovelace)',
  });
  log.error('Failed.', { error });
  const line = JSON.parse(lines[0] ?? '');
  expect(line).toMatchObject({ error_class: 'TypeError', error_code: '23505' });
  expect(line.error_at[0]).toMatch(/^at /);
  expect(lines[0]).not.toMatch(/quotes|Lovelace/);
});

test('every line inside a call carries the trace and the request of that call', async () => {
  const { log, lines } = capture();
  const call = (traceId: string, requestId: string) =>
    withTrace({ traceId, requestId }, async () => {
      await Promise.resolve();
      log.info('Inside.');
    });
  await Promise.all([call('a'.repeat(32), 'one'), call('b'.repeat(32), 'two')]);
  log.info('Outside.');
  const [first, second, outside] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ trace_id: 'a'.repeat(32), request_id: 'one' });
  expect(second).toMatchObject({ trace_id: 'b'.repeat(32), request_id: 'two' });
  expect(outside).not.toHaveProperty('trace_id');
});
