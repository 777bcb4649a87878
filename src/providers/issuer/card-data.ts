import { holdsCardNumber, maskCardNumbers } from '../../domain/card-numbers.js';
import { maskCardData } from '../mask-card-data.js';

/** Ids that we made: their random letters and digits may look like a card number and are none. */
const OWN_ID = /^[a-z]{2,5}_[0-9a-z]{26}$/;
/** 12 to 19 digits, also grouped: with an issuer's text no checksum is needed to leave them out. */
const DIGIT_RUN = /(?<![0-9])[0-9](?:[ ._-]?[0-9]){11,18}(?![0-9])/g;

/** True when what should be an id, a word or a code holds a card number: then it is none of these. */
export function isCardData(text: string): boolean {
  return !OWN_ID.test(text) && holdsCardNumber(text);
}

/** True when the text holds this number, however its digits are grouped or what stands between them. */
export function holdsDigitsOf(text: string, pan: string): boolean {
  return text.replace(/[^0-9]/g, '').includes(pan);
}

/** An issuer's own words for a person: without long numbers, whether or not they are card numbers. */
export function maskIssuerText(text: string): string {
  return maskCardNumbers(text).replace(DIGIT_RUN, (run) => run.replace(/[0-9]/g, '*'));
}

/**
 * What of an issuer's notification may be sealed and stored: its bytes without card numbers, security codes and any
 * other long number. Nothing is ever taken from a stored body, so masking can spoil no fact.
 */
export function maskIssuerBody(rawBody: Buffer): Buffer {
  return Buffer.from(maskIssuerText(maskCardData(rawBody).toString('latin1')), 'latin1');
}
