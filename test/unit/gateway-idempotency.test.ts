import {
  fingerprint,
  readIdempotencyKey,
  requireSameCall,
  toRequestInput,
} from '../../src/http/gateway/idempotency.js';
import { readPreference } from '../../src/http/gateway/prefer.js';

describe('the key', () => {
  test.each([
    ['order-1001', 'order-1001'],
    ['"order-1001"', 'order-1001'],
    ['A.b_c:d-9', 'A.b_c:d-9'],
    ['x'.repeat(128), 'x'.repeat(128)],
  ])('%s is taken', (header, key) => {
    expect(readIdempotencyKey(header)).toBe(key);
  });

  test.each([[undefined], [''], ['""'], ['a b'], ['a,b'], ['ключ'], ['a"'], ['"a'], ['x'.repeat(129)], ['a/b']])(
    '%s is refused',
    (header) => {
      expect(() => readIdempotencyKey(header)).toThrow('idempotency_key_missing');
    },
  );
});

test.each(['4242424242424242', 'order4242424242424242', '4242-4242-4242-4242', '4242_4242_4242_4242:1'])(
  'the key %s is refused, for it holds a card number',
  (key) => {
    const errors = [{ pointer: 'Idempotency-Key', detail: 'must not hold a card number' }];
    expect(() => readIdempotencyKey(key)).toThrow(expect.objectContaining({ code: 'idempotency_key_missing', errors }));
  },
);

describe('the fingerprint', () => {
  const one = fingerprint('POST', '/v1/x', { a: '1', b: { c: null, d: true } });

  test('does not depend on the order of members', () => {
    expect(fingerprint('POST', '/v1/x', { b: { d: true, c: null }, a: '1' })).toBe(one);
  });

  test('depends on method, path, each member and its type', () => {
    const others = [
      fingerprint('PUT', '/v1/x', { a: '1', b: { c: null, d: true } }),
      fingerprint('POST', '/v1/y', { a: '1', b: { c: null, d: true } }),
      fingerprint('POST', '/v1/x', { a: '2', b: { c: null, d: true } }),
      fingerprint('POST', '/v1/x', { a: '1', b: { c: 'null', d: true } }),
      fingerprint('POST', '/v1/x', { a: '1', b: { c: null, d: false } }),
      fingerprint('POST', '/v1/x', { a: '1', b: null, c: null, d: true }),
      fingerprint('POST', '/v1/x', { a: ['1'], b: { c: null, d: true } }),
    ];
    expect(new Set([one, ...others]).size).toBe(others.length + 1);
  });

  test('of another call under the same key is refused', () => {
    const call = { key: 'k', method: 'POST', path: '/v1/x', understood: { a: '1' } };
    const request = toRequestInput({ book: 'live', merchantId: 'mer_1' }, call);
    expect(() => requireSameCall(request.fingerprint, request)).not.toThrow();
    expect(() => requireSameCall(Buffer.from(request.fingerprint, 'hex'), request)).not.toThrow();
    expect(() => requireSameCall(one, request)).toThrow('idempotency_key_reused');
  });

  test('belongs to a request id that book, merchant and key decide, whatever the call', () => {
    const of = { key: 'k', method: 'POST', path: '/v1/x', understood: {} };
    const id = toRequestInput({ book: 'live', merchantId: 'mer_1' }, of).id;
    expect(toRequestInput({ book: 'live', merchantId: 'mer_1' }, { ...of, path: '/v1/y' }).id).toBe(id);
    expect(toRequestInput({ book: 'test', merchantId: 'mer_1' }, of).id).not.toBe(id);
    expect(toRequestInput({ book: 'live', merchantId: 'mer_2' }, of).id).not.toBe(id);
  });
});

describe('Prefer', () => {
  test.each([
    [undefined, 4_000, null],
    ['wait=0', 0, 'wait=0'],
    ['wait=2', 2_000, 'wait=2'],
    ['Wait = "3"', 3_000, 'wait=3'],
    ['wait=60', 10_000, 'wait=10'],
    ['wait=99999999999999999999', 10_000, 'wait=10'],
    [`wait=${'9'.repeat(400)}`, 10_000, 'wait=10'],
    ['respond-async', 0, 'respond-async'],
    ['respond-async, wait=5', 5_000, 'wait=5'],
    ['return=minimal', 4_000, null],
    ['wait=-1', 4_000, null],
    ['wait=soon', 4_000, null],
  ])('%s waits %d ms', (header, waitMs, applied) => {
    expect(readPreference(header)).toEqual({ waitMs, applied });
  });
});
