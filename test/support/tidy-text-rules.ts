/** A file of the tree as text. */
export interface TidyText {
  /** Relative to the repository. */
  readonly path: string;
  readonly lines: readonly string[];
}

export const README_LINES_MAX = 75;

/**
 * Card numbers that tests put in on purpose, to see that none comes out: public test numbers that no issuer gives out.
 * Any other run of digits that passes as a card number is refused in the tree.
 */
export const CANARY_CARDS: readonly string[] = ['4242424242424242', '4111111111111111', '5555555555554444'];
/** Keys that tests put in on purpose; they open nothing. */
const CANARY_SECRETS = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'sverka:hunter2@'];

/** The rules of every text file, by name; each answers `<path>:<line> <what>`. */
export const TIDY_TEXT_RULES = {
  noLooseEnds,
  noRegistryHost,
  noSecret,
  noCardNumber,
  shortReadme,
} as const satisfies Record<string, (text: TidyText) => string[]>;

// Written in pieces, so that this file does not breach its own rules.
const LOOSE_ENDS = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'HA' + 'CK'].join('|')})\\b`);
const REGISTRY_HOSTS = new RegExp(
  [
    ...['npm' + 'js\\.org', 'npm' + 'mirror\\.com', 'yarn' + 'pkg\\.com', 'pypi\\.' + 'org', 'pythonhosted\\.' + 'org'],
    ...['crates\\.' + 'io', 'rubygems\\.' + 'org', 'proxy\\.golang\\.' + 'org', 'repo1?\\.maven', '_auth' + 'Token'],
    ...['arti' + 'factory', 'nexus[.-][a-z-]+\\.'],
  ].join('|'),
  'i',
);
const SECRETS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bsk_(live|test)_[0-9A-Za-z]{43}\b/,
  /\bwhsec_[A-Za-z0-9+/]{24,}/,
  /\b(AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bgh[pousr]_[0-9A-Za-z]{36}\b/,
  /\bnpm_[0-9A-Za-z]{36}\b/,
  /\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\./,
  /\bxox[abpr]-[0-9A-Za-z-]{10,}/,
  /[a-z]+:\/\/[a-z_]+:[^@\s/'"`${}<>…]{6,}@[a-z0-9]/i,
];
/** 13 to 19 digits, perhaps in groups, that stand alone; the first digit of those that cards have. */
const CARD_RUN = /(?<![0-9a-z._-])[3-6](?:[ -]?[0-9]){12,18}(?![0-9a-z_-])/gi;

function noLooseEnds({ path, lines }: TidyText): string[] {
  return matches({ path, lines }, LOOSE_ENDS, 'leaves a loose end: do it, or write an issue');
}

function noRegistryHost({ path, lines }: TidyText): string[] {
  return matches(
    { path, lines },
    REGISTRY_HOSTS,
    'names the host of a package registry: that is the machine’s setting',
  );
}

function noSecret({ path, lines }: TidyText): string[] {
  const open = lines.map((line) => CANARY_SECRETS.reduce((text, canary) => text.replaceAll(canary, ''), line));
  return SECRETS.flatMap((secret) =>
    matches({ path, lines: open }, secret, 'looks like a secret: take it from outside'),
  );
}

function noCardNumber({ path, lines }: TidyText): string[] {
  return lines.flatMap((line, at) =>
    [...line.matchAll(CARD_RUN)]
      .map(([run]) => run.replaceAll(/[ -]/g, ''))
      .filter((digits) => passesLuhn(digits) && !CANARY_CARDS.includes(digits))
      .map(() => `${path}:${at + 1} holds what passes as a card number: take a declared canary`),
  );
}

function shortReadme({ path, lines }: TidyText): string[] {
  const counted = lines.length - (lines.at(-1) === '' ? 1 : 0);
  if (!/^README(\.[a-z]+)?\.md$/.test(path) || counted <= README_LINES_MAX) return [];
  return [`${path}:1 has ${counted} lines, at most ${README_LINES_MAX}: the rest belongs in docs/`];
}

function matches({ path, lines }: TidyText, pattern: RegExp, what: string): string[] {
  return lines.flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1} ${what}`] : []));
}

/** The check digit of card numbers (ISO/IEC 7812). */
function passesLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const doubled = at % 2 === 1 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
