import type { CardChangeSeen } from '../contracts/messages.js';
import { raiseAlert } from '../db/alerts.js';
import {
  applyCardChange,
  type CardChangeAnswer,
  changeAlertKey,
  refuseCardChange,
  submitCardChange,
} from '../db/apply-card-change.js';
import { type CardChangeName, type CardChangeRecord, readCardChange, touchCardChange } from '../db/card-changes.js';
import { readCard } from '../db/cards.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import { STATE_SET_BY } from '../domain/card-change.js';
import { ProviderError } from '../providers/errors.js';
import type { IssuerClient } from '../providers/issuer/client.js';
import type { ClosedIssuerCard, IssuerCard } from '../providers/issuer/schema.js';
import { makeTraceparent } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';
import { paceMs } from './pace.js';

export type CardChangeActivities = ReturnType<typeof createCardChangeActivities>;

/** One change, as its workflow follows it. `tries`: how often it was told before. */
export interface OfCardChange extends CardChangeName {
  readonly tries: number;
  readonly traceId: string;
}

/** Telling the issuer what was decided on a card: one at a time, in order, again until he confirms. */
export function createCardChangeActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Commits that the issuer may know of it from now on, when its turn has come. */
    async databaseSubmitCardChange(of: OfCardChange): Promise<CardChangeSeen> {
      const { change, turn } = await retrying(() => inTransaction(deps.pool, (tx) => submitCardChange(tx, of)));
      if (turn === 'behind') await touchCardChange(db, of, change.needsOperator);
      return seen(change, { next: turn === 'now' ? 'tell' : 'wait', waitMs: paceMs(deps.config, of.tries) });
    },

    /** One POST, outside any transaction. It sets a state, so it may be sent again. */
    async providerCreateCardChange(of: OfCardChange): Promise<CardChangeSeen> {
      const change = await readCardChange(db, of);
      if (change.outcome !== null || change.submittedAt === null) return waiting(deps, change, of.tries);
      const card = await readCard(db, of.cardId);
      const { providerRef } = card;
      if (providerRef === null) throw new Error(`Card ${of.cardId} changes although the issuer has not made it.`);
      const issuer = deps.issuer({ book: card.book, account: card.providerAccount });
      const by = { traceparent: makeTraceparent(of.traceId) };
      try {
        const told = await tell(issuer, { change, providerRef, by });
        return await apply(deps, { ...of, ...told });
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.provesNothingMade) throw error;
        if (error.kind !== 'rejected') return notTold(deps, change, { error, ...of });
      }
      // It may be refused because it is so already.
      const now = await issuer.readCard(providerRef, by);
      if (now?.status === STATE_SET_BY[change.kind]) return apply(deps, { ...of, status: now.status, remaining: null });
      const status = now === null ? null : now.providerStatus;
      const refused = await retrying(() => inTransaction(deps.pool, (tx) => refuseCardChange(tx, { ...of, status })));
      return seen(refused, { next: 'wait', waitMs: deps.config.SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX });
    },

    /** It left no answer: it is told again. */
    async databaseSuspectCardChange(of: OfCardChange): Promise<CardChangeSeen> {
      const change = await readCardChange(db, of);
      const tooLong = change.outcome === null && of.tries >= deps.config.SVERKA_UNKNOWN_ALERT_LOOKS;
      if (tooLong) await tellPerson(deps, change, { kind: 'outcome_unknown', detail: NO_ANSWER, traceId: of.traceId });
      const needsOperator = change.needsOperator || tooLong;
      await touchCardChange(db, of, needsOperator);
      return waiting(deps, { ...change, needsOperator }, of.tries);
    },
  };
}

const NO_ANSWER = 'The issuer does not confirm a change of this card; look it up there. He is told again meanwhile.';

interface Told {
  readonly change: CardChangeRecord;
  readonly providerRef: string;
  readonly by: { readonly traceparent: string };
}

/** What he says of the card then, in his own words. */
async function tell(issuer: IssuerClient, of: Told): Promise<Pick<CardChangeAnswer, 'status' | 'remaining'>> {
  const card = await call(issuer, of);
  const remaining = 'remaining' in card ? card.remaining : null;
  return { status: card.providerStatus, remaining };
}

function call(issuer: IssuerClient, { change, providerRef, by }: Told): Promise<IssuerCard | ClosedIssuerCard> {
  switch (change.kind) {
    case 'freeze':
      return issuer.createFreeze(providerRef, by);
    case 'unfreeze':
      return issuer.createUnfreeze(providerRef, by);
    case 'close':
      return issuer.createClose(providerRef, by);
  }
}

async function apply(deps: ActivityDeps, answer: CardChangeAnswer & { tries: number }): Promise<CardChangeSeen> {
  const change = await retrying(() => inTransaction(deps.pool, (tx) => applyCardChange(tx, answer)));
  const { cardId: card_id, number, kind, outcome, book, merchantId: merchant_id } = change;
  const about = { card_id, number, kind, outcome, book, merchant_id };
  if (outcome !== null) deps.log.info('card change ended', { trace_id: answer.traceId, ...about });
  else await touchCardChange(queriesOf(deps.pool), answer, change.needsOperator);
  return waiting(deps, change, answer.tries);
}

/** Proven that he has not heard of it; what a person must mend is tried at its own pace. */
async function notTold(
  deps: ActivityDeps,
  change: CardChangeRecord,
  { error, tries, traceId }: { error: ProviderError; tries: number; traceId: string },
): Promise<CardChangeSeen> {
  const misconfigured = error.kind === 'misconfigured';
  if (misconfigured) {
    await tellPerson(deps, change, { kind: 'provider_misconfigured', detail: error.message, traceId });
  }
  const needsOperator = change.needsOperator || misconfigured;
  await touchCardChange(queriesOf(deps.pool), change, needsOperator);
  const waitMs = misconfigured
    ? deps.config.SVERKA_MISCONFIGURED_INTERVAL
    : (error.retryAfterMs ?? paceMs(deps.config, tries));
  return seen({ ...change, needsOperator }, { next: 'wait', waitMs });
}

async function tellPerson(
  { pool }: ActivityDeps,
  change: CardChangeRecord,
  alert: { kind: string; detail: string; traceId: string },
): Promise<void> {
  const subject = { type: 'card', id: change.cardId };
  await raiseAlert(queriesOf(pool), { key: changeAlertKey(change), book: change.book, subject, ...alert });
}

function waiting(deps: ActivityDeps, change: CardChangeRecord, tries: number): CardChangeSeen {
  return seen(change, { next: 'wait', waitMs: paceMs(deps.config, tries) });
}

function seen(change: CardChangeRecord, then: Pick<CardChangeSeen, 'next' | 'waitMs'>): CardChangeSeen {
  const { kind, outcome, needsOperator } = change;
  return { kind, needsOperator, state: outcome ?? 'waiting', ...then, next: outcome === null ? then.next : 'end' };
}
