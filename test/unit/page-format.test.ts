import { formatDecimal, formatShortTime, formatSpan, formatTime, isoSpan } from '../../src/http/pages/format.js';
import { readChosen, viewOf, writeChosen } from '../../src/http/pages/view.js';

const view = (of: Partial<Parameters<typeof viewOf>[0]> = {}) =>
  viewOf({ lang: 'en', theme: 'system', zone: 'UTC', book: 'live', ...of }, new Date('2026-11-26T14:32:00Z'));
const whole = (text: string, of: Parameters<typeof view>[0] = {}, signed = false) => {
  const { whole: first, minor } = formatDecimal(view(of), text, { signed });
  return `${first}${minor}`;
};

test.each([
  ['0.00', '0.00', '0,00'],
  ['12400.000000', '12,400.000000', '12\u00a0400,000000'],
  ['-1250.5', '\u22121,250.5', '\u22121\u00a0250,5'],
  ['99999999999999999999.123456789012345678', '99,999,999,999,999,999,999.123456789012345678', null],
])('%s keeps every digit, grouped as the language does', (text, en, ru) => {
  expect(whole(text)).toBe(en);
  if (ru !== null) expect(whole(text, { lang: 'ru' })).toBe(ru);
});

test('a change has its sign, and nothing has none', () => {
  expect([whole('5.00', {}, true), whole('-5.00', {}, true), whole('0.00', {}, true)]).toEqual([
    '+5.00',
    '\u22125.00',
    '0.00',
  ]);
});

test('a moment carries its zone, and a table leaves out what its head says', () => {
  const at = new Date('2026-11-26T22:05:09Z');
  expect(formatTime(view(), at)).toBe('26 Nov 2026, 22:05:09 UTC');
  expect(formatTime(view({ zone: 'Asia/Tokyo' }), at)).toBe('27 Nov 2026, 07:05:09 GMT+9');
  expect(formatTime(view({ lang: 'ru' }), at)).toMatch(/^26 нояб\. 2026, 22:05:09 UTC$/);
  expect(formatShortTime(view(), at)).toBe('26 Nov 22:05:09');
  expect(formatShortTime(view(), new Date('2025-01-02T03:04:05Z'))).toBe('2 Jan 2025 03:04:05');
});

test('an age is words, in its two largest units', () => {
  const spans = [0, 999, 12_000, 41 * 60_000, 192 * 60_000, 49 * 3_600_000].map((ms) => formatSpan(view(), ms));
  expect(spans).toEqual(['0 s', '0 s', '12 s', '41 min', '3 h\u00a012 min', '2 d\u00a01 h']);
  expect([isoSpan(41 * 60_000), isoSpan(192 * 60_000)]).toEqual(['PT41M', 'PT3H12M']);
});

test('a browser that has chosen is remembered, one that has not is met in its language', () => {
  const chosen = { lang: 'ru', theme: 'dark', zone: 'Europe/Berlin', book: 'test' } as const;
  expect(readChosen({ cookie: writeChosen(chosen), acceptLanguage: 'en' })).toEqual(chosen);
  expect(readChosen({ cookie: undefined, acceptLanguage: 'fr-FR, ru;q=0.8, en;q=0.5' }).lang).toBe('ru');
  expect(readChosen({ cookie: undefined, acceptLanguage: undefined }).lang).toBe('en');
});

test.each(['lang=xx&theme=pink&zone=Mars/Base&book=both', '%', 'zone=%00', `zone=${'A'.repeat(500)}`])(
  'a cookie that nobody could have chosen counts as none: %s',
  (cookie) => {
    expect(readChosen({ cookie, acceptLanguage: 'en' })).toEqual({
      lang: 'en',
      theme: 'system',
      zone: 'UTC',
      book: 'live',
    });
  },
);
