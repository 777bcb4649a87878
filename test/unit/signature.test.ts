import { createHmac } from 'node:crypto';
import { hmacSha256, isFresh, matchesAnySignature, readTimedSignature } from '../../src/providers/signature.js';

const SECRET = 'a-secret-that-has-enough-characters';
const OTHER = 'b-secret-that-has-enough-characters';
const good = hmacSha256(SECRET, ['body']).toString('hex');

function matches(candidates: string[], secrets: string[] = [SECRET]): boolean {
  return matchesAnySignature({ candidates, encoding: 'hex', secrets, parts: ['body'] });
}

describe('A signature', () => {
  test('is the HMAC-SHA256 of the parts as one message', () => {
    const whole = createHmac('sha256', SECRET).update('12.body').digest();
    expect(hmacSha256(SECRET, ['12.', Buffer.from('body')])).toEqual(whole);
  });

  test('is accepted under either of two secrets and in any place among several', () => {
    const old = hmacSha256(OTHER, ['body']).toString('hex');
    expect(matches([good], [SECRET, OTHER])).toBe(true);
    expect(matches([old], [SECRET, OTHER])).toBe(true);
    expect(matches(['0'.repeat(64), good])).toBe(true);
    expect(matches([good, '0'.repeat(64)])).toBe(true);
  });

  test('is refused under another secret, for another body, and where there is none', () => {
    expect(matches([good], [OTHER])).toBe(false);
    expect(matches([hmacSha256(SECRET, ['other']).toString('hex')])).toBe(false);
    expect(matches([])).toBe(false);
    expect(matches([good], [])).toBe(false);
  });

  test.each([
    ['empty', ''],
    ['short', 'abc'],
    ['63 hex digits', good.slice(1)],
    ['65 hex digits', `${good}0`],
    ['64 characters of several bytes', 'é'.repeat(64)],
    ['64 letters that are no hex', 'zz'.repeat(32)],
    ['hex with a line break', `${good}\n`],
    ['base64 instead of hex', hmacSha256(SECRET, ['body']).toString('base64')],
  ])('of an odd shape (%s) is no match and no exception', (_name, candidate) => {
    expect(matches([candidate])).toBe(false);
  });

  test('made with an empty or a short secret is never accepted, even where that secret is configured', () => {
    for (const weak of ['', 'abcd', 'x'.repeat(31)]) {
      const signature = createHmac('sha256', weak).update('body').digest('hex');
      expect(matches([signature], [weak])).toBe(false);
    }
    const enough = 'x'.repeat(32);
    expect(matches([hmacSha256(enough, ['body']).toString('hex')], [enough])).toBe(true);
  });

  test('drowned in more candidates than a rotation needs is refused', () => {
    expect(matches([...Array.from({ length: 8 }, () => '0'.repeat(64)), good])).toBe(false);
  });

  test('can be base64 where the provider says so', () => {
    const candidates = [hmacSha256(SECRET, ['body']).toString('base64')];
    expect(matchesAnySignature({ candidates, encoding: 'base64', secrets: [SECRET], parts: ['body'] })).toBe(true);
    expect(matchesAnySignature({ candidates: [good], encoding: 'base64', secrets: [SECRET], parts: ['body'] })).toBe(
      false,
    );
  });
});

describe('A timed signature header', () => {
  test('gives the timestamp as signed and every v1, and skips other schemes', () => {
    expect(readTimedSignature('t=0170,v0=x,v1=a, v1=b')).toEqual({
      timestamp: '0170',
      seconds: 170,
      candidates: ['a', 'b'],
    });
  });

  test.each([
    '',
    't',
    't=1',
    'v1=a',
    't=,v1=a',
    't=1,t=1,v1=a',
    't=NaN,v1=a',
    't=1e3,v1=a',
    't=-1,v1=a',
    't=+1,v1=a',
    't=1.5,v1=a',
    't=١٢,v1=a',
    't=9999999999999,v1=a',
    't=1,v0=a',
    `t=1,v1=${'a'.repeat(3_000)}`,
  ])('%p is none', (header) => {
    expect(readTimedSignature(header)).toBeNull();
  });

  test('is fresh up to its tolerance in both directions and not a second longer', () => {
    const fresh = (seconds: number) => isFresh({ seconds, nowMs: 1_000_000_900, toleranceSeconds: 300 });
    expect([fresh(999_700), fresh(1_000_300)]).toEqual([true, true]);
    expect([fresh(999_699), fresh(1_000_301)]).toEqual([false, false]);
  });
});
