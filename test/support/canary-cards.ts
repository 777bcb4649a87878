/** What somebody puts at one place, so that a find tells where it came in. */
export interface Canary {
  /** The place, in words. */
  readonly surface: string;
  /** A number that passes for a card's, of no other place. */
  readonly card: string;
}

/** The way a number is written by those who put it where it does not belong. */
export const SPELLINGS: Readonly<Record<string, (card: string) => string>> = {
  'as it is': (card) => card,
  'after a word': (card) => `order${card}`,
  'with dashes': (card) => grouped(card, '-'),
  'with underscores': (card) => grouped(card, '_'),
  'with dots': (card) => grouped(card, '.'),
  'with its expiry and code': (card) => `${card}-1229.123`,
};

/** The same digits in groups of four. */
export function grouped(card: string, separator: string): string {
  return card.match(/[0-9]{1,4}/g)?.join(separator) ?? card;
}

/** Makes canaries, each with a number of its own. */
export function canaryMaker(): { make(surface: string, digits?: number): Canary; readonly made: readonly Canary[] } {
  const made: Canary[] = [];
  return {
    made,
    make(surface, digits = 16) {
      const number = String(made.length + 100);
      const canary = { surface, card: withCheckDigit(`45${number}8319462750836194`.slice(0, digits - 1)) };
      made.push(canary);
      return canary;
    },
  };
}

/** The surfaces whose number stands in a text, however its digits are grouped, and the place where it stands. */
export function findCanaries(texts: ReadonlyMap<string, string>, canaries: readonly Canary[]): string[] {
  return [...texts].flatMap(([where, text]) => {
    const joined = text.replace(/(?<=[0-9])[^0-9A-Za-z"\\](?=[0-9])/g, '');
    return canaries
      .filter(({ card }) => text.includes(card) || joined.includes(card))
      .map(({ surface }) => `${surface} → ${where}`);
  });
}

function withCheckDigit(body: string): string {
  let sum = 0;
  for (const [place, digit] of [...body].toReversed().entries()) {
    const doubled = place % 2 === 0 ? Number(digit) * 2 : Number(digit);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return `${body}${(10 - (sum % 10)) % 10}`;
}
