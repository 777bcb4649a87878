import { compareCursors } from '../../src/providers/pert/cursor.js';
import { cursorOf, positionOf } from '../../src/providers/pert/simulator-cursor.js';

describe('The order of opaque cursors [R2]', () => {
  test.each([
    ['shorter is older', 'zz', 'bbb'],
    ['shorter is older, also where a number would be larger', '99', '100'],
    ['of equal length the bytes decide', 'abc', 'abd'],
    ['capitals stand before small letters, as their bytes do', 'aZ', 'aa'],
    ['digits are no number: leading zeros count', '2', '01'],
    ['what looks like a float is none', '1e9', '2e1x'],
    ['length is in bytes, not in characters', 'zz', '\u00e9b'],
    ['an astral letter has four bytes', 'zzz', '\u{1f600}'],
    ['an empty one is the oldest', '', 'a'],
    ['a number beyond 2^53 is told from its neighbour', '9007199254740992', '9007199254740993'],
  ])('%s: %p is older than %p', (_rule, older, newer) => {
    expect(compareCursors(older, newer)).toBe(-1);
    expect(compareCursors(newer, older)).toBe(1);
    expect(compareCursors(older, older)).toBe(0);
    expect(compareCursors(newer, newer)).toBe(0);
  });

  test('puts any list into one order, however it was shuffled', () => {
    const sorted = ['', 'Z', 'a', '10', 'aZ', 'aa', 'bb', '100', 'zzz', '\u00e9\u00e9'];
    for (const shuffled of [[...sorted].reverse(), [...sorted.slice(5), ...sorted.slice(0, 5)]]) {
      expect(shuffled.sort(compareCursors)).toEqual(sorted);
    }
  });
});

describe('The cursors of the simulator', () => {
  test('are letters alone, become longer, and stand in that order', () => {
    const positions = [0, 1, 19, 20, 21, 399, 400, 401, 159_999, 160_000, 1_795_947_330_123_456, 2 ** 53 - 1];
    const cursors = positions.map(cursorOf);
    for (const cursor of cursors) expect(cursor).toMatch(/^[a-z]+$/);
    expect(new Set(cursors.map(({ length }) => length)).size).toBeGreaterThan(4);
    expect([...cursors].reverse().sort(compareCursors)).toEqual(cursors);
    expect(cursors.map(positionOf)).toEqual(positions);
  });

  test.each(['a', 'B', '17', 'bb', 'bc', 'c c', 'z'.repeat(20), '-', '\u00e9'])('are not %p', (text) => {
    expect(() => positionOf(text)).toThrow(/no cursor/);
  });
});
