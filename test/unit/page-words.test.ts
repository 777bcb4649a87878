import { LANGS, translate, WORDS, type Word } from '../../src/http/pages/words.js';

const entries = Object.entries(WORDS) as [Word, readonly [string, string]][];
/** The same in both languages, or a word of neither. */
const NO_RUSSIAN = new Set<Word>(['col_id', 'by_id', 'by_key', 'tl_birth', 'tl_move', 'tl_actor', 'of_budget']);
const namesOf = (text: string) =>
  [...new Set([...text.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name))].sort();

test('each word is there in both languages, and says something', () => {
  expect(entries.length).toBeGreaterThan(200);
  for (const [word, texts] of entries) {
    expect([word, texts.length]).toEqual([word, LANGS.length]);
    for (const text of texts) expect([word, text.trim()]).toEqual([word, text]);
    for (const text of texts) expect([word, text === '']).toEqual([word, false]);
  }
});

test('the Russian is Russian, and the English is not', () => {
  const isRussian = (text: string) => /[а-яё]/i.test(text);
  const wrong = entries.filter(([word, [en, ru]]) => isRussian(en) || isRussian(ru) === NO_RUSSIAN.has(word));
  expect(wrong).toEqual([]);
});

test('both languages name the same values, and a plural has its forms', () => {
  for (const [word, [en, ru]] of entries) {
    expect([word, namesOf(ru)]).toEqual([word, namesOf(en)]);
    const forms = [en, ru].map((text) => text.split('|').length);
    expect([word, forms.join('/')]).toEqual([word, forms[0] === 1 ? '1/1' : '2/3']);
  }
});

test.each([
  [1, '1 row on this page', '1 строка на странице'],
  [2, '2 rows on this page', '2 строки на странице'],
  [5, '5 rows on this page', '5 строк на странице'],
  [21, '21 rows on this page', '21 строка на странице'],
])('%d is counted as each language counts', (n, en, ru) => {
  expect(LANGS.map((lang) => translate(lang, 'rows_of_page', { n }))).toEqual([en, ru]);
});
