import { cardChangeWorkflowId } from '../contracts/ids.js';
import type { Book } from '../domain/books.js';
import type { CardChangeName, CardChangeRecord } from './card-changes.js';
import type { ProviderRef } from './trace-scope.js';
import type { Tx } from './transaction.js';

/** What belongs to the story of some cards. */
export interface CardsScope {
  readonly subjects: readonly string[];
  readonly refs: readonly ProviderRef[];
  readonly workflowIds: readonly string[];
  readonly changes: readonly CardChangeName[];
}

/** How many cards of one cardholder, and loads and changes of them, are followed with what belongs to each. */
const NEWEST_MAX = 100;

/** Which cards. `named`: by an id that the issuer, or one of our rows, gives it. */
export type WhichCards = { readonly card: string } | { readonly cardholder: string } | { readonly named: string };

/** The cards with all that was ever done with them: issuances, loads, changes. Nothing of the cardholder but the id. */
export async function scopeOfCards(tx: Tx, which: WhichCards): Promise<CardsScope> {
  const made = await scopeOfIssued(tx, which);
  const loads = await loadsOf(tx, ['l.card_id = any ($1)', made.subjects]);
  const changes = await changesOf(tx, ['g.card_id = any ($1)', made.subjects]);
  return {
    subjects: [...made.subjects, ...loads.map(({ id }) => id)],
    refs: made.refs,
    workflowIds: [
      ...made.workflowIds,
      ...loads.map(({ workflowId }) => workflowId),
      ...changes.map(cardChangeWorkflowId),
    ],
    changes,
  };
}

/**
 * The cards with all their issuances: notifications name an issuance (our reference) or the issuer's id of the card.
 */
export async function scopeOfIssued(tx: Tx, which: WhichCards): Promise<CardsScope> {
  const [where, param] = conditionOf(which);
  const rows = await tx.query<IssuedRow>(
    `select i.id, i.card_id as "cardId", i.provider, i.provider_account as account, i.provider_ref as "providerRef",
       i.workflow_id as "workflowId"
     from sverka.issuance i
     where i.card_id in (select c.id from sverka.card c where ${where} order by c.id desc limit ${NEWEST_MAX})
     order by i.id desc`,
    [param],
  );
  return {
    subjects: [...new Set(rows.flatMap(({ id, cardId }) => [cardId, id]))],
    refs: rows.flatMap(({ id, provider, account, providerRef }) =>
      [id, ...(providerRef === null ? [] : [providerRef])].map((ref) => ({ provider, account, ref })),
    ),
    workflowIds: rows.map(({ workflowId }) => workflowId),
    changes: [],
  };
}

/** One load alone; its card has a story of its own. */
export async function scopeOfLoad(tx: Tx, id: string): Promise<CardsScope> {
  const loads = await loadsOf(tx, ['l.id = $1', id]);
  return { subjects: [id], refs: [], workflowIds: loads.map(({ workflowId }) => workflowId), changes: [] };
}

/** One change of a card, by its number or by the request for it; null when there is none. */
export async function scopeOfChange(
  tx: Tx,
  which: CardChangeName | { readonly requestId: string },
): Promise<(CardsScope & { readonly traceIds: readonly string[] }) | null> {
  const [change] =
    'requestId' in which
      ? await changesOf(tx, ['g.request_id = $1', which.requestId])
      : await changesOf(tx, ['g.card_id = $1 and g.number = $2', which.cardId, which.number]);
  if (!change) return null;
  const { cardId, number, requestId, traceId } = change;
  // The card's rows of this change carry its trace: moves, movements, events and alerts.
  return {
    ...{ subjects: [requestId], refs: [], workflowIds: [cardChangeWorkflowId(change)], changes: [{ cardId, number }] },
    traceIds: traceId === null ? [] : [traceId],
  };
}

/** A change of a card: when it was asked for, told to the issuer, and how that ended. */
export interface CardChangeItem extends Pick<CardChangeRecord, 'number' | 'requestId' | 'submittedAt' | 'outcome'> {
  readonly kind: 'card_change';
  readonly at: Date;
  readonly subject: { readonly type: string; readonly id: string };
  readonly change: CardChangeRecord['kind'];
  readonly doneAt: Date | null;
  readonly needsOperator: boolean;
  readonly traceId: string | null;
}

/** The newest of these changes, and of those of a merchant. */
export async function readChangeItems(
  tx: Tx,
  of: { changes: readonly CardChangeName[]; merchantId: string | null; book: string | null; limit: number },
): Promise<CardChangeItem[]> {
  return tx.query(
    `select 'card_change' as kind, g.created_at as at, json_build_object('type', 'card', 'id', g.card_id) as subject,
       g.number, g.kind as change, g.request_id as "requestId", g.submitted_at as "submittedAt", g.outcome,
       g.done_at as "doneAt", g.needs_operator as "needsOperator", g.trace_id as "traceId"
     from sverka.card_change g
     where ((g.card_id, g.number) in (select * from unnest($1::text[], $2::int[])) or g.merchant_id = $3)
       and ($4::text is null or g.book = $4)
     order by g.created_at desc, g.number desc limit ${of.limit}`,
    [of.changes.map(({ cardId }) => cardId), of.changes.map(({ number }) => number), of.merchantId, of.book],
  );
}

type Where = readonly [where: string, ...params: unknown[]];

async function loadsOf(tx: Tx, [where, ...params]: Where): Promise<{ id: string; workflowId: string }[]> {
  return tx.query(
    `select l.id, l.workflow_id as "workflowId" from sverka.card_load l where ${where}
     order by l.id desc limit ${NEWEST_MAX}`,
    params,
  );
}

interface ChangeRow extends CardChangeName {
  readonly book: Book;
  readonly requestId: string;
  readonly traceId: string | null;
}

async function changesOf(tx: Tx, [where, ...params]: Where): Promise<ChangeRow[]> {
  return tx.query(
    `select g.card_id as "cardId", g.number, g.book, g.request_id as "requestId", g.trace_id as "traceId"
     from sverka.card_change g where ${where} order by g.created_at desc, g.number desc limit ${NEWEST_MAX}`,
    params,
  );
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
