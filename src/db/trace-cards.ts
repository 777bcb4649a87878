import type { ProviderRef } from './trace-scope.js';
import type { Tx } from './transaction.js';

/** What belongs to the story of some cards. */
export interface CardsScope {
  readonly subjects: readonly string[];
  readonly refs: readonly ProviderRef[];
  readonly workflowIds: readonly string[];
}

/** How many cards of one cardholder are followed with their own notifications and workflows. */
const CARDS_MAX = 100;

/** Which cards. `named`: by an id that the issuer, or one of our rows, gives it. */
export type WhichCards = { readonly card: string } | { readonly cardholder: string } | { readonly named: string };

/**
 * The cards with all their issuances: notifications name an issuance (our reference) or the issuer's id of the card.
 * Nothing of the cardholder but the id.
 */
export async function scopeOfCards(tx: Tx, which: WhichCards): Promise<CardsScope> {
  const [where, param] = conditionOf(which);
  const rows = await tx.query<IssuedRow>(
    `select i.id, i.card_id as "cardId", i.provider, i.provider_account as account, i.provider_ref as "providerRef",
       i.workflow_id as "workflowId"
     from sverka.issuance i
     where i.card_id in (select c.id from sverka.card c where ${where} order by c.id desc limit ${CARDS_MAX})
     order by i.id desc`,
    [param],
  );
  return {
    subjects: [...new Set(rows.flatMap(({ id, cardId }) => [cardId, id]))],
    refs: rows.flatMap(({ id, provider, account, providerRef }) =>
      [id, ...(providerRef === null ? [] : [providerRef])].map((ref) => ({ provider, account, ref })),
    ),
    workflowIds: rows.map(({ workflowId }) => workflowId),
  };
}

interface IssuedRow {
  readonly id: string;
  readonly cardId: string;
  readonly provider: string;
  readonly account: string;
  readonly providerRef: string | null;
  readonly workflowId: string;
}

function conditionOf(which: WhichCards): [where: string, param: string] {
  if ('card' in which) return ['c.id = $1', which.card];
  if ('cardholder' in which) return ['c.cardholder_id = $1', which.cardholder];
  // The card itself may be the issuer's of a later generation: every card that one of its issuances was given counts.
  return [
    'c.id in (select n.card_id from sverka.issuance n where $1 in (n.id, n.provider_ref, n.workflow_id))',
    which.named,
  ];
}
