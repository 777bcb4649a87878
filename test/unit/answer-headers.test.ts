import { requestIdOf, traceIdOf } from '../../src/http/answer-headers.js';
import { CANARY_CARD } from '../support/deposit-world.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = (trace: string, span = '00f067aa0ba902b7') => `00-${trace}-${span}-01`;

test.each(['a', 'call-1795947330123', '550e8400-e29b-41d4-a716-446655440000', 'x'.repeat(64)])(
  'the Request-Id %s is echoed',
  (given) => expect(requestIdOf(given)).toBe(given),
);

test.each([null, undefined, '', 'a b', 'x'.repeat(65), CANARY_CARD, `id${CANARY_CARD}`, '4242_4242_4242_4242'])(
  'a new Request-Id is made in place of %s',
  (given) => expect(requestIdOf(given)).toMatch(UUID),
);

test('the trace of the caller goes on; what his span holds is not kept anyway', () => {
  expect(traceIdOf(traceparent(TRACE))).toBe(TRACE);
  expect(traceIdOf(traceparent(TRACE, CANARY_CARD))).toBe(TRACE);
});

test.each([null, 'no trace', traceparent(CANARY_CARD.padEnd(32, '0')), traceparent(CANARY_CARD.padStart(32, 'ab'))])(
  'a new trace begins in place of %s',
  (given) => {
    const made = traceIdOf(given);
    expect(made).toMatch(/^[0-9a-f]{32}$/);
    expect(made).not.toContain(CANARY_CARD);
  },
);
