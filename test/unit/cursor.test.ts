import fc from 'fast-check';
import { decodeCursor, encodeCursor } from '../../src/http/gateway/cursor.js';

const SCOPE = ['/v1/deposits', 'live', 'mer_1', 'state=["credited"]'];

test('a cursor leads back to its position in the list it was made for', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string({ unit: 'grapheme', maxLength: 60 }), (scope, position) => {
      expect(decodeCursor(scope, encodeCursor(scope, position))).toBe(position);
    }),
  );
});

test.each([
  ['another filter', ['/v1/deposits', 'live', 'mer_1', 'state=["final"]']],
  ['no filter', ['/v1/deposits', 'live', 'mer_1']],
  ['another merchant', ['/v1/deposits', 'live', 'mer_2', 'state=["credited"]']],
  ['the other book', ['/v1/deposits', 'test', 'mer_1', 'state=["credited"]']],
  ['another route', ['/v1/movements', 'live', 'mer_1', 'state=["credited"]']],
])('a cursor is refused with %s', (_, scope) => {
  expect(() => decodeCursor(scope, encodeCursor(SCOPE, 'dep_1'))).toThrow('invalid_cursor');
});

test('a cursor that is not ours, cut, longer, or changed in one character is refused', () => {
  const cursor = encodeCursor(SCOPE, 'dep_01m8mxxm1dendtgh5kmdznkxxb');
  const changed = [...cursor].map((character, at) => {
    return cursor.slice(0, at) + (character === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
  });
  for (const forged of [
    '',
    'x',
    'null',
    '%00',
    cursor.slice(0, -1),
    `${cursor}A`,
    `${cursor}=`,
    ` ${cursor}`,
    ...changed,
  ]) {
    expect(() => decodeCursor(SCOPE, forged)).toThrow('invalid_cursor');
  }
});
