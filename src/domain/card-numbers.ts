// 13 to 19 digits, also grouped by single spaces, dots or dashes, not part of a longer run.
const CANDIDATE = /(?<![0-9])[0-9](?:[ .-]?[0-9]){12,18}(?![0-9])/g;
// The member names under which security codes travel, with their value as text or number.
const SECURITY_CODE = /("(?:cvv2?|cvc2?|cid|security_code|pin)"\s*:\s*"?)([0-9]{3,8})/gi;

/**
 * The text with every card number but its last four digits, and every security code, replaced by `*`. Of the same
 * length, so that what surrounds it stays where it was. Only what passes the Luhn check counts as a card number.
 */
export function maskCardNumbers(text: string): string {
  return text
    .replace(CANDIDATE, (run) => (passesLuhn(run.replace(/[^0-9]/g, '')) ? maskDigits(run, 4) : run))
    .replace(SECURITY_CODE, (_, before: string, code: string) => before + '*'.repeat(code.length));
}

/** True when the text holds what could be a card number. */
export function holdsCardNumber(text: string): boolean {
  return maskCardNumbers(text) !== text;
}

// Alone between what is no letter and no digit, of a length and with a first digit that cards have: no time in
// milliseconds, no id of a clock, no part of a UUID.
const ALONE = /(?<![A-Za-z0-9])[2-6][0-9]{13,15}(?![A-Za-z0-9])/g;

/** True when a name that somebody gives a thing is or holds what a card number looks like: names are kept as given. */
export function namesCardNumber(name: string): boolean {
  return (name.match(ALONE) ?? []).some(passesLuhn);
}

function maskDigits(run: string, keep: number): string {
  let left = run.replace(/[^0-9]/g, '').length - keep;
  return run.replace(/[0-9]/g, (digit) => (left-- > 0 ? '*' : digit));
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    sum += place % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}
