// A card number is 13 to 19 digits with a right check digit, of whole groups: a longer run of digits holds none.
const SHORTEST = 13;
const LONGEST = 19;
const RUN = /[0-9]+(?:[ ._-][0-9]+)*/g;
// The member names under which security codes travel, with their value as text or number.
const SECURITY_CODE = /("(?:cvv2?|cvc2?|cid|security_code|pin)"\s*:\s*"?)([0-9]{3,8})/gi;

/**
 * The text with every card number but its last four digits, and every security code, replaced by `*`. Of the same
 * length, so that what surrounds it stays where it was. Only what passes the Luhn check counts as a card number.
 */
export function maskCardNumbers(text: string): string {
  return text
    .replace(RUN, (run) => maskRun(run, passesLuhn))
    .replace(NAME_RUN, (run) => maskRun(run, looksLikeCard))
    .replace(SECURITY_CODE, (_, before: string, code: string) => before + '*'.repeat(code.length));
}

/** True when the text holds what could be a card number. */
export function holdsCardNumber(text: string): boolean {
  return maskCardNumbers(text) !== text;
}

// Random ids: a UUID, an ObjectId or a hash in hexadecimal. One without a single letter is none.
const RANDOM_ID =
  /(?<![A-Za-z0-9])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:0x)?[0-9a-f]{24,})(?![A-Za-z0-9])/gi;
// One run, or groups as they are printed on cards: none of them is a date of eight digits or a time in milliseconds.
const NAME_RUN =
  /(?<![0-9])(?:[0-9]{13,19}|[0-9]{3,6}(?:[^\p{L}\p{N}][0-9]{3,6})+(?:[^\p{L}\p{N}][0-9]{1,2})?)(?![0-9])/gu;
// First digits of cards: no counter, no time in milliseconds (1…), no date (20…).
const CARD_BEGINS = /^(?:[3-6]|2[2-7])/;

/**
 * True when a name that a stranger gives holds what a card number looks like, also behind letters and in groups: names
 * are kept as they are given. Narrow, for a number of so many digits is refused one time in ten.
 */
export function namesCardNumber(name: string): boolean {
  return (withoutRandomIds(name.normalize('NFKC')).match(NAME_RUN) ?? []).some(
    (run) => stretchesIn(run, looksLikeCard).length > 0,
  );
}

/** The text with an `x` for each random id: its digits may look like a card number and are none. */
export function withoutRandomIds(text: string): string {
  return text.replace(RANDOM_ID, (id) => (/[a-f]/i.test(id) ? 'x' : id));
}

/**
 * True when an id of 32 hexadecimal digits that a stranger chose holds what a card number looks like, padded with other
 * digits or not. Of random ones it is true once in 800: only for what can be replaced.
 */
export function hidesCardNumber(hex: string): boolean {
  return (hex.match(/[0-9]{13,}/g) ?? []).some((run) => (run.length <= LONGEST ? looksLikeCard(run) : anyPart(run)));
}

function anyPart(run: string): boolean {
  for (let from = 0; from + SHORTEST <= run.length; from += 1)
    for (let length = SHORTEST; length <= LONGEST && from + length <= run.length; length += 1)
      if (looksLikeCard(run.slice(from, from + length))) return true;
  return false;
}

function looksLikeCard(digits: string): boolean {
  return CARD_BEGINS.test(digits) && passesLuhn(digits);
}

function maskRun(run: string, isCard: (digits: string) => boolean): string {
  let masked = '';
  let end = 0;
  for (const [from, to] of stretchesIn(run, isCard)) {
    masked += run.slice(end, from) + maskDigits(run.slice(from, to), 4);
    end = to;
  }
  return masked + run.slice(end);
}

/** Where card numbers stand in a run: of whole groups, the longest from each on, none within another. */
function stretchesIn(run: string, isCard: (digits: string) => boolean): [number, number][] {
  const groups = [...run.matchAll(/[0-9]+/g)];
  const found: [number, number][] = [];
  for (let first = 0; first < groups.length; first += 1) {
    const last = lastOfCard(groups, { first, isCard });
    if (last === null) continue;
    const { 0: digits, index } = groups[last] ?? { 0: '', index: 0 };
    found.push([groups[first]?.index ?? 0, index + digits.length]);
    first = last;
  }
  return found;
}

function lastOfCard(
  groups: readonly RegExpMatchArray[],
  { first, isCard }: { first: number; isCard: (digits: string) => boolean },
): number | null {
  let digits = '';
  let last: number | null = null;
  for (let at = first; at < groups.length && digits.length < LONGEST; at += 1) {
    digits += groups[at]?.[0] ?? '';
    if (digits.length >= SHORTEST && digits.length <= LONGEST && isCard(digits)) last = at;
  }
  return last;
}

function maskDigits(run: string, keep: number): string {
  let left = run.replace(/[^0-9]/g, '').length - keep;
  return run.replace(/[0-9]/g, (digit) => (left-- > 0 ? '*' : digit));
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48;
    sum += place % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}
