import { holdsCardNumber, maskCardNumbers, withoutRandomIds } from '../../domain/card-numbers.js';

/** Ids that we made: their random letters and digits may look like a card number and are none. */
const OWN_ID = /^[a-z]{2,5}_[0-9a-z]{26}$/;
/** 12 digits or more, also grouped: with an issuer's text no checksum is needed to leave them out. */
const DIGIT_RUN = /[0-9](?:[ ._-]?[0-9]){11,}/g;

/** True when what should be an id, a word or a code holds a card number: then it is none of these. */
export function isCardData(text: string): boolean {
  return !OWN_ID.test(text) && holdsCardNumber(withoutRandomIds(text));
}

/** True when the text holds this number, however its digits are grouped or what stands between them. */
export function holdsDigitsOf(text: string, pan: string): boolean {
  return text.replace(/[^0-9]/g, '').includes(pan);
}

/** Classes as issuers write them: `do_not_honor`, or a response code of ISO 8583. */
const REASON_CLASS = /^(?:[a-z]+(?:_[a-z]+)*|[A-Z0-9]{2})$/;
const REASON_MAX = 64;

/** The class of a reason; a sentence is `other`, for it may name the holder, the card or its code. */
export function reasonClassOf(text: string): string {
  return text.length <= REASON_MAX && REASON_CLASS.test(text) ? text : 'other';
}

/** An issuer's own words for a person: without long numbers, whether or not they are card numbers. */
export function maskIssuerText(text: string): string {
  return maskCardNumbers(text).replace(DIGIT_RUN, (run) => run.replace(/[0-9]/g, '*'));
}
