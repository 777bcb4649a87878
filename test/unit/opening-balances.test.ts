import { OPENINGS_MAX, readOpeningBalances } from '../../src/domain/opening-balances.js';

const MERCHANT = `mer_${'0'.repeat(26)}`;
const HEADING = 'book,owner,asset,amount,reference';
const file = (...lines: string[]) => [HEADING, ...lines].join('\n');
const read = (...lines: string[]) => readOpeningBalances(file(...lines));
const line = (fields: Partial<Record<'book' | 'owner' | 'asset' | 'amount' | 'reference', string>> = {}) =>
  Object.values({ book: 'live', owner: MERCHANT, asset: 'USD', amount: '25.00', reference: '', ...fields }).join(',');

it('reads owners, amounts in the asset’s own unit, and references with commas and quotation marks', () => {
  expect(
    read(
      line(),
      line({ owner: `${MERCHANT}/player-7`, asset: 'JPY', amount: '1000' }),
      line({ book: 'test', asset: 'ETH', amount: '0.000000000000000001', reference: '"old book, page ""3"""' }),
    ),
  ).toEqual([
    { line: 2, book: 'live', merchantId: MERCHANT, customerRef: null, asset: 'USD', amount: 2_500n, reference: null },
    {
      ...{ line: 3, book: 'live', merchantId: MERCHANT, customerRef: 'player-7' },
      ...{ asset: 'JPY', amount: 1_000n, reference: null },
    },
    {
      ...{ line: 4, book: 'test', merchantId: MERCHANT, customerRef: null },
      ...{ asset: 'ETH', amount: 1n, reference: 'old book, page "3"' },
    },
  ]);
});

it('takes a byte order mark, Windows’ line ends, and a line end at the end', () => {
  const plain = read(line());
  expect(readOpeningBalances(`\u{feff}${HEADING}\r\n${line()}\r\n`)).toEqual(plain);
  expect(readOpeningBalances(`${file(line())}\n`)).toEqual(plain);
});

it.each<[string, string, RegExp]>([
  ['another book', line({ book: 'prod' }), /book must be live or test/],
  ['an owner that is none', line({ owner: 'mer_1' }), /owner must be/],
  ['a customer’s name outside the grammar', line({ owner: `${MERCHANT}/a b` }), /owner must be/],
  ['an empty customer', line({ owner: `${MERCHANT}/` }), /owner must be/],
  ['an asset that is not listed', line({ asset: 'DOGE' }), /not listed/],
  ['an asset by another case', line({ asset: 'usd' }), /not listed/],
  ['too many decimals', line({ amount: '1.001' }), /more than 2 decimals/],
  ['a sign', line({ amount: '-5' }), /without sign/],
  ['an exponent', line({ amount: '1e3' }), /decimal number/],
  ['a space', line({ amount: ' 5' }), /decimal number/],
  ['a thousands separator in quotation marks', line({ amount: '"1,000"' }), /decimal number/],
  ['nothing', line({ amount: '0.00' }), /above zero/],
  ['more than an account holds', line({ amount: '92233720368547758.08' }), /larger than an account/],
  ['a long reference', line({ reference: 'x'.repeat(141) }), /more than 140/],
  ['too few fields', 'live,mer', /2 fields, not 5/],
  ['too many fields', `${line()},more`, /6 fields, not 5/],
  ['an open quotation mark', line({ reference: '"open' }), /quotation mark/],
  ['a quotation mark inside', line({ reference: 'a"b' }), /quotation mark/],
  ['an empty line', '', /1 fields, not 5/],
])('refuses %s, with the number of its line', (_, bad, detail) => {
  expect(read(line(), bad, line({ asset: 'EUR' }))).toEqual({
    problems: [{ line: 3, detail: expect.stringMatching(detail) }],
  });
});

it('names every bad line, and an account that stands there twice', () => {
  expect(read(line({ amount: 'x' }), line(), line({ book: 'x' }), line({ amount: '7' }))).toEqual({
    problems: [
      { line: 2, detail: expect.any(String) },
      { line: 4, detail: expect.any(String) },
      { line: 5, detail: 'the account of line 3 stands here again' },
    ],
  });
});

it('refuses another heading, no line at all, and more lines than one transaction posts', () => {
  for (const text of ['', 'a,b\n', `${HEADING}\n`, `${HEADING} \n${line()}`]) {
    expect(readOpeningBalances(text)).toEqual({ problems: [{ line: 1, detail: expect.any(String) }] });
  }
  const many = Array.from({ length: OPENINGS_MAX + 1 }, (_, n) => line({ owner: `${MERCHANT}/c${n}` }));
  expect(read(...many)).toEqual({ problems: [{ line: OPENINGS_MAX + 2, detail: expect.stringMatching(/split it/) }] });
  expect(read(...many.slice(1))).toHaveLength(OPENINGS_MAX);
});
