import { BALANCE_WORDS } from './words/balance-words.js';
import { CABINET_WORDS } from './words/cabinet-words.js';
import { CONSOLE_WORDS } from './words/console-words.js';
import { DECISION_WORDS } from './words/decision-words.js';
import { LIST_WORDS } from './words/list-words.js';
import { PASSKEY_WORDS } from './words/passkey-words.js';
import { SHELL_WORDS } from './words/shell-words.js';
import { SIGN_IN_WORDS } from './words/sign-in-words.js';
import { STATE_WORDS } from './words/state-words.js';
import { TIME_WORDS } from './words/time-words.js';
import { TIMELINE_WORDS } from './words/timeline-words.js';
import { WITHDRAWAL_WORDS } from './words/withdrawal-words.js';

/** Every word of the pages, in both languages. A subject has a file of its own in words/, and a line here. */
export const WORDS = {
  ...SHELL_WORDS,
  ...SIGN_IN_WORDS,
  ...PASSKEY_WORDS,
  ...LIST_WORDS,
  ...STATE_WORDS,
  ...TIME_WORDS,
  ...TIMELINE_WORDS,
  ...DECISION_WORDS,
  ...CONSOLE_WORDS,
  ...CABINET_WORDS,
  ...WITHDRAWAL_WORDS,
  ...BALANCE_WORDS,
} as const;
export type Word = keyof typeof WORDS;

export const LANGS = ['en', 'ru'] as const;
export type Lang = (typeof LANGS)[number];

/** What stands for the `{names}` of a text; `n` decides the form of a plural. */
export type Values = Readonly<Record<string, string | number>>;

const PLURALS: Readonly<Record<Lang, Intl.PluralRules>> = {
  en: new Intl.PluralRules('en'),
  ru: new Intl.PluralRules('ru'),
};
const FORMS: Readonly<Record<Lang, readonly Intl.LDMLPluralRule[]>> = {
  en: ['one', 'other'],
  ru: ['one', 'few', 'many'],
};

/** The text of that word, its values filled in. */
export function translate(lang: Lang, word: Word, values: Values = {}): string {
  const text = WORDS[word][LANGS.indexOf(lang)] ?? word;
  const forms = text.split('|');
  const form = forms.length === 1 ? text : (forms[formOf(lang, values['n'])] ?? text);
  return form.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** The word of that name, or null: for what comes from the database, such as a state. */
export function findWord(name: string): Word | null {
  return Object.hasOwn(WORDS, name) ? (name as Word) : null;
}

function formOf(lang: Lang, count: string | number | undefined): number {
  const at = FORMS[lang].indexOf(PLURALS[lang].select(Number(count ?? 0)));
  return at === -1 ? FORMS[lang].length - 1 : at;
}
