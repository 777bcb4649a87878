import { listCardFees } from '../../db/card-fees.js';
import type { Tx } from '../../db/transaction.js';
import { CARD_PRODUCTS } from '../../domain/card.js';
import type { RunFile } from '../../local/run-file.js';
import { type Finding, ok, warning } from './finding.js';

/** What issuing cards needs and nothing else does: where nobody issues them, these are no failures. */
export async function checkCards(db: Tx, run: Partial<RunFile> | null): Promise<Finding[]> {
  return [...checkIssuer(run), ...(await checkFees(db))];
}

/** An issuer for each book, as the run file names its endpoints; of other profiles nothing is known here. */
function checkIssuer(run: Partial<RunFile> | null): Finding[] {
  const { hooks } = run ?? {};
  if (hooks === undefined) return [];
  return (['live', 'test'] as const).map((book) => {
    const check = `issuer:${book}`;
    const hook = hooks.find((each) => each.provider === 'issuer' && each.book === book);
    if (hook) return ok(check, hook.endpoint);
    const settings = `SVERKA_${book.toUpperCase()}_ISSUER_{URL,API_KEY,WEBHOOK_SECRETS}`;
    return warning(check, 'no issuer is configured: cards are refused', `Set ${settings} and start again.`);
  });
}

/** A product without a fee for all is offered to nobody who has none of his own. */
async function checkFees(db: Tx): Promise<Finding[]> {
  // Without an answer, or without the table: `postgres` and `schema` say so.
  const fees = await listCardFees(db, { merchantId: null }, { after: null, limit: FEES_MAX }).catch(() => null);
  if (fees === null) return [];
  return CARD_PRODUCTS.map((product) => {
    const assets = fees.filter((fee) => fee.product === product && fee.merchantId === null).map(({ asset }) => asset);
    if (assets.length > 0) return ok(`fee:${product}`, `set for all in ${assets.join(', ')}`);
    const fix = `sverka products set-fee ${product} 1.00 USD, or with --merchant for one alone.`;
    return warning(`fee:${product}`, 'no fee is set for all: cards of this product are not offered', fix);
  });
}

/** Those for all come first. */
const FEES_MAX = 1_000;
