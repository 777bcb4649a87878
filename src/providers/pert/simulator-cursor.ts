import { SimulatorRefusal } from '../simulator-kit/requests.js';

/** Ascending, and without digits and vowels: a cursor is neither a number nor a word. */
const LETTERS = 'bcdfghjkmnpqrstvwxyz';
const BASE = LETTERS.length;

/** The opaque cursor of a position: a later one is longer, or of the same length and later in the alphabet. */
export function cursorOf(position: number): string {
  let text = '';
  for (let rest = position; rest > 0 || text === ''; rest = Math.floor(rest / BASE)) {
    text = LETTERS.charAt(rest % BASE) + text;
  }
  return text;
}

/** The position of a cursor that we gave out; refuses any other text. */
export function positionOf(cursor: string): number {
  let position = 0;
  for (const letter of cursor) {
    const digit = LETTERS.indexOf(letter);
    if (digit < 0) throw noCursor();
    position = position * BASE + digit;
  }
  if (!Number.isSafeInteger(position) || cursorOf(position) !== cursor) throw noCursor();
  return position;
}

/** 400: nobody got this from us. */
export function noCursor(): SimulatorRefusal {
  return new SimulatorRefusal(400, 'invalid_cursor', 'since_cursor is no cursor of this journal');
}
