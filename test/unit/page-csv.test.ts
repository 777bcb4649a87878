import { writeCsv } from '../../src/http/pages/csv.js';

test('a CSV is as RFC 4180 has it: CRLF, quotes where they are needed, doubled inside', () => {
  expect(
    writeCsv(
      ['id', 'name'],
      [
        ['a', 'plain'],
        ['b', 'with, comma'],
        ['c', 'with "quotes"\nand a line'],
        ['d', null],
      ],
    ),
  ).toBe('id,name\r\na,plain\r\nb,"with, comma"\r\nc,"with ""quotes""\nand a line"\r\nd,\r\n');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("https://evil.example","x")'])(
  'a text that a spreadsheet would run is text: %j',
  (text) => {
    const [cell] = writeCsv([], [[text]])
      .split('\r\n')
      .slice(1)
      .join('\r\n')
      .split(/,(?=")/);
    expect(cell?.replace(/^"/, '').startsWith("'")).toBe(true);
  },
);

test('a figure of ours stays a figure, with its sign; nothing else passes as one', () => {
  expect(writeCsv(['a'], [[{ figure: '-12.50' }], [{ figure: '0' }]])).toBe('a\r\n-12.50\r\n0\r\n');
  for (const figure of ['=1', '-1+1', '1e5', '', '--1', '1,0']) {
    expect(() => writeCsv(['a'], [[{ figure }]])).toThrow('not a plain decimal');
  }
});
