import type { Book } from '../../domain/books.js';
import { findWord, LANGS, type Lang, translate, type Values, type Word } from './words.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
export const VIEW_COOKIE = '__Host-sverka_view';
/** For how long a browser keeps it. */
export const VIEW_COOKIE_SECONDS = 365 * 24 * 3_600;

/** How one reader sees pages. */
export interface View {
  readonly lang: Lang;
  readonly theme: Theme;
  /** `UTC`, or a name such as `Europe/Berlin`. */
  readonly zone: string;
  readonly book: Book;
  /** One moment for the whole page: ages of one page agree. */
  readonly now: Date;
  t(word: Word, values?: Values): string;
  /** The word `<prefix>_<name>`, or the name itself where we have none. */
  named(prefix: string, name: string): string;
}

/** What a browser has chosen; the text of its cookie. */
export interface Chosen {
  readonly lang: Lang;
  readonly theme: Theme;
  readonly zone: string;
  readonly book: Book;
}

/** Reads the cookie, else what the browser says; what nobody could have chosen counts as not chosen. */
export function readChosen(of: { cookie: string | undefined; acceptLanguage: string | undefined }): Chosen {
  const said = new URLSearchParams(of.cookie ?? '');
  return {
    lang: oneOf(LANGS, said.get('lang')) ?? languageOf(of.acceptLanguage ?? ''),
    theme: oneOf(THEMES, said.get('theme')) ?? 'system',
    zone: isZone(said.get('zone')) ? (said.get('zone') ?? 'UTC') : 'UTC',
    book: said.get('book') === 'test' ? 'test' : 'live',
  };
}

export function writeChosen(chosen: Chosen): string {
  return new URLSearchParams({ ...chosen }).toString();
}

export function viewOf(chosen: Chosen, now: Date = new Date()): View {
  const { lang } = chosen;
  return {
    ...chosen,
    now,
    t: (word, values) => translate(lang, word, values),
    named: (prefix, name) => {
      const word = findWord(`${prefix}_${name}`);
      return word === null ? name : translate(lang, word);
    },
  };
}

/** True for a time zone that this machine knows. */
export function isZone(name: string | null): boolean {
  if (name === null || !/^[A-Za-z0-9+_/-]{1,64}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // No such zone.
    return false;
  }
}

export function oneOf<const T extends string>(values: readonly T[], text: string | null | undefined): T | null {
  return values.find((value) => value === text) ?? null;
}

/** The first language of the header that we speak; quality beyond the order is not looked at. */
function languageOf(header: string): Lang {
  const wanted = header.split(',').map((part) => part.trim().slice(0, 2).toLowerCase());
  return wanted.map((name) => oneOf(LANGS, name)).find((lang) => lang !== null) ?? 'en';
}
