import { makeTraceparent, newTraceId, parseTraceparent } from '../../src/telemetry/trace.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

test('a traceparent that we make is one that we read', () => {
  const traceId = newTraceId();
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(parseTraceparent(makeTraceparent(traceId))).toBe(traceId);
});

test('a later version with more fields is read, as W3C has it', () => {
  expect(parseTraceparent(`01-${TRACE}-00f067aa0ba902b7-01-more`)).toBe(TRACE);
});

test.each([
  ['absent', undefined],
  ['no trace at all', 'hello'],
  ['upper case', `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the version that is forbidden', `ff-${TRACE}-00f067aa0ba902b7-01`],
  ['version 00 with more fields', `00-${TRACE}-00f067aa0ba902b7-01-more`],
  ['two of them', `00-${TRACE}-00f067aa0ba902b7-01, 00-${TRACE}-00f067aa0ba902b7-01`],
])('%s is no traceparent', (_, header) => {
  expect(parseTraceparent(header)).toBeNull();
});
