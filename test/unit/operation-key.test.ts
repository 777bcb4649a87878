import fc from 'fast-check';
import { hashOperationKey } from '../../src/db/journal.js';
import { collectKey, type OperationKey, operationKeyParts } from '../../src/domain/operation-key.js';

const key: OperationKey = {
  instrument: { book: 'live', provider: 'custody', account: 'main-live', kind: 'deposit', ref: ['cd-77'] },
  generation: 0,
  operation: 'credit',
};
const instrument = fc.record({
  book: fc.constantFrom('live' as const, 'test' as const),
  provider: fc.constantFrom('custody', 'evm'),
  account: fc.constantFrom('a', 'ab'),
  kind: fc.constantFrom('deposit', 'b'),
  ref: fc.array(fc.constantFrom('a', 'b', '0', 'a0', ':'), { minLength: 1, maxLength: 3 }),
});
const anyKey = fc.record({
  instrument,
  generation: fc.integer({ min: 0, max: 11 }),
  operation: fc.constantFrom('credit', 'a', '0'),
});

describe('an operation key', () => {
  it('begins with book, provider, provider account and kind, and ends with generation and operation', () => {
    expect(operationKeyParts(key)).toEqual(['live', 'custody', 'main-live', 'deposit', 'cd-77', '0', 'credit']);
  });

  it('is of 32 bytes and the same every time', () => {
    expect(hashOperationKey(key)).toHaveLength(32);
    expect(hashOperationKey(key)).toEqual(hashOperationKey(structuredClone(key)));
  });

  it('never shadows the same instrument of the other book', () => {
    const test = { ...key, instrument: { ...key.instrument, book: 'test' as const } };
    expect(hashOperationKey(test)).not.toEqual(hashOperationKey(key));
  });

  it('differs wherever any part differs, however the parts would read when joined', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(hashOperationKey(a).equals(hashOperationKey(b))).toBe(same);
      }),
      { numRuns: 2_000 },
    );
  });

  it('tells two outputs of one transaction apart by their position', () => {
    const output = (index: string) => ({ ...key, instrument: { ...key.instrument, ref: ['tron', '9f3c', index] } });
    expect(hashOperationKey(output('0'))).not.toEqual(hashOperationKey(output('1')));
  });

  it.each([
    ['no name of the instrument', { ...key, instrument: { ...key.instrument, ref: [] } }],
    ['an empty part', { ...key, instrument: { ...key.instrument, account: '' } }],
    ['an empty operation', { ...key, operation: '' }],
    ['a generation below zero', { ...key, generation: -1 }],
    ['a generation that is no whole number', { ...key, generation: 0.5 }],
  ])('is refused with %s', (_, bad) => {
    expect(() => operationKeyParts(bad)).toThrow(/operation key/);
  });

  it('of a collect is the credit’s with the operation suffixed', () => {
    expect(operationKeyParts(collectKey(key)).at(-1)).toBe('credit:collect');
  });
});
