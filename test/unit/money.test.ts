import fc from 'fast-check';
import { formatAmount, isDecimalString, largestAmount, parseAmount } from '../../src/domain/money.js';

describe('parseAmount', () => {
  it.each([
    ['25.5', 2, 2550n],
    ['25', 2, 2500n],
    ['25.00', 2, 2500n],
    ['25.5000', 2, 2550n],
    ['0', 2, 0n],
    ['0.00', 0, 0n],
    ['500', 0, 500n],
    ['1.234', 3, 1234n],
    ['0.001', 3, 1n],
    ['19.99', 2, 1999n],
    ['4.35', 2, 435n],
    ['0.0000001', 18, 100_000_000_000n],
    ['9.3', 18, 9_300_000_000_000_000_000n],
    ['0.00000000001', 11, 1n],
    ['12345678901234567890.123456789012345678', 18, 12_345_678_901_234_567_890_123_456_789_012_345_678n],
  ])('reads %s at %d decimals exactly', (text, decimals, minor) => {
    expect(parseAmount(text, decimals)).toBe(minor);
  });

  it.each(
    [
      '+50.1',
      '-1',
      '-0',
      '-0.00',
      '1_000',
      '0x10',
      '.5',
      '5.',
      '1e5',
      '1E-7',
      'Infinity',
      'NaN',
      ' 1',
      '1 ',
      '1\n',
      '',
    ].concat(['٥٠', '５０', '1,5', '00', '01', '1.2.3', '1٫5', '\u00001']),
  )('refuses %j as outside the grammar [CASES C07]', (text) => {
    expect(parseAmount(text, 2)).toBe('grammar');
    expect(isDecimalString(text)).toBe(false);
  });

  it.each([[50.1], [50n], [null], [undefined], [['1']], [{ toString: () => '1' }]])(
    'refuses %p, which is no text',
    (x) => {
      expect(parseAmount(x, 2)).toBe('grammar');
    },
  );

  it('refuses more fraction digits than the asset has', () => {
    expect(parseAmount('1.005', 2)).toBe('too_precise');
    expect(parseAmount('1.2345', 3)).toBe('too_precise');
    expect(parseAmount('0.1', 0)).toBe('too_precise');
  });

  it('takes what the column can hold and refuses one more', () => {
    expect(parseAmount('9223372036854775807', 0)).toBe(2n ** 63n - 1n);
    expect(parseAmount('9223372036854775808', 0)).toBe('out_of_range');
    expect(parseAmount('9'.repeat(20) + '.' + '9'.repeat(18), 18)).toBe(10n ** 38n - 1n);
    expect(parseAmount('1' + '0'.repeat(20), 18)).toBe('out_of_range');
    expect(parseAmount('9'.repeat(5_000), 18)).toBe('out_of_range');
  });
});

describe('formatAmount', () => {
  it('writes exactly the decimals of the asset, and never an exponent', () => {
    expect(formatAmount(-2550n, 2)).toBe('-25.50');
    expect(formatAmount(0n, 2)).toBe('0.00');
    expect(formatAmount(500n, 0)).toBe('500');
    expect(formatAmount(1n, 18)).toBe('0.000000000000000001');
    expect(formatAmount(10n ** 37n, 18)).toBe('10000000000000000000.000000000000000000');
  });

  it('is the inverse of parseAmount for every amount of every precision', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 18 }), fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }), (decimals, amount) => {
        const minor = amount % (largestAmount(decimals) + 1n);
        expect(parseAmount(formatAmount(minor, decimals), decimals)).toBe(minor);
      }),
      { numRuns: 2_000 },
    );
  });
});
