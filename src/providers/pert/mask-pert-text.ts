import { maskCardNumbers, namesCardNumber } from '../../domain/card-numbers.js';
import { isDecimalString } from '../../domain/money.js';

// A string (with its colon, if it is a member's name) or a number. As in strict-json.ts, a string that never ends
// matches to the end of the text: no attempt is repeated.
const TOKEN = /"(?:[^"\\]+|\\.)*(?:"|\\?$)(?:[ \t\n\r]*:)?|-?[0-9][0-9.eE+-]*/gs;
const DECIMALS: ReadonlySet<string> = new Set(['balance_version', 'amount', 'balance']);
const TEXTS: ReadonlySet<string> = new Set(['event', 'id', 'status', 'currency', 'address', 'created_at']);

/**
 * JSON text of Pert's without card numbers and security codes, and with its facts as they were. What is stored is read
 * again, and one long number in ten passes for a card number: so versions, amounts and balances stay, and so does a
 * name that the schema would take. A number elsewhere that is masked becomes a string, and the text stays JSON.
 */
export function maskPertText(text: string): string {
  let member = '';
  return text.replace(TOKEN, (token) => {
    if (token.endsWith(':')) {
      member = token.slice(1, token.lastIndexOf('"'));
      return maskCardNumbers(token);
    }
    const of = member;
    member = '';
    const isText = token.startsWith('"');
    if (isFact(of, isText ? token.slice(1, -1) : token)) return token;
    // With its member's name before it, by which a security code is known.
    const named = `"${of}":`;
    const masked = maskCardNumbers(named + token).slice(named.length);
    return isText || masked === token ? masked : `"${masked}"`;
  });
}

function isFact(member: string, value: string): boolean {
  if (DECIMALS.has(member)) return isDecimalString(value);
  return TEXTS.has(member) && !namesCardNumber(value);
}
