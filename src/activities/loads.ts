import type { LoadRecord } from '../contracts/load.js';
import type { CardLoadInput, CardLoadReserved, CardLoadSeen } from '../contracts/messages.js';
import { toAmount } from '../contracts/values.js';
import { raiseAlert } from '../db/alerts.js';
import { applyLoad, isDone, type LoadAnswer, loadAlertKey, submitLoad, suspectLoad } from '../db/apply-load.js';
import { readCard } from '../db/cards.js';
import { readLoad, touchLoad } from '../db/loads.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { reserveLoad } from '../db/reserve-load.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { decimalsOf } from '../domain/assets.js';
import { ISSUER_DECLINED } from '../domain/issuance.js';
import { isDefiniteRefusal } from '../domain/load.js';
import { formatAmount } from '../domain/money.js';
import { ProviderError } from '../providers/errors.js';
import { makeTraceparent } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';
import { answerKept, keepOutcome, reserveOrRefuse } from './keep-request.js';
import { paceMs } from './pace.js';

export type LoadActivities = ReturnType<typeof createLoadActivities>;

/** One load, as its workflow follows it. `tries`: creates before this one. */
export interface OfLoad {
  readonly id: string;
  readonly tries: number;
  readonly traceId: string;
}

const ACTOR = 'worker:issuer';

/** Loading a card: money set aside, the intent committed, one create at the issuer, again under the same reference. */
export function createLoadActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Load, request and hold in one commit, or the refusal; any second run is answered by the first's row. */
    async databaseReserveCardLoad(input: CardLoadInput): Promise<CardLoadReserved> {
      return reserveOrRefuse(deps, input, {
        reserve: (tx) => reserve(tx, input),
        amount: async () => toAmount(BigInt(input.amount), input.asset),
        refused: (accepted) => ({ accepted, loadId: null }),
      });
    },

    /** Commits the intent, before anything is sent. */
    async databaseSubmitCardLoad(of: Omit<OfLoad, 'tries'> & { runId: string }): Promise<CardLoadSeen> {
      const record = await retrying(() => inTransaction(deps.pool, (tx) => submitLoad(tx, { ...of, actor: ACTOR })));
      return seen(record, null);
    },

    /** One POST, outside any transaction. The reference is the same each time, so the issuer loads once. */
    async providerCreateCardLoad(of: OfLoad): Promise<CardLoadSeen> {
      const record = await readLoad(db, of.id);
      if (isDone(record)) return seen(record, null);
      const card = await readCard(db, record.cardId);
      // He has not heard yet what is true of the card here.
      if (card.changing) return later(deps, record, { waitMs: paceMs(deps.config, of.tries) });
      if (card.providerRef === null) throw new Error(`Card ${card.id} is loaded although the issuer has not made it.`);
      const ticket = await takeReadTicket(db);
      const amount = formatAmount(record.amount, decimalsOf(record.asset));
      const by = { traceparent: makeTraceparent(of.traceId) };
      try {
        const issuer = deps.issuer({ book: record.book, account: record.providerAccount });
        await issuer.createLoad(card.providerRef, { reference: record.id, amount }, by);
        return await apply(deps, record, { made: true, ticket, traceId: of.traceId });
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.provesNothingMade) throw error;
        return notMade(deps, record, { error, ticket, ...of });
      }
    },

    /** Notes that nobody knows whether it was loaded. Never a failure: it is sent again under the same reference. */
    async databaseSuspectCardLoad(of: OfLoad): Promise<CardLoadSeen> {
      const tooLong = of.tries >= deps.config.SVERKA_UNKNOWN_ALERT_LOOKS;
      const record = await retrying(() =>
        inTransaction(deps.pool, (tx) => suspectLoad(tx, { ...of, tooLong, actor: ACTOR })),
      );
      return seen(record, isDone(record) ? null : paceMs(deps.config, of.tries));
    },
  };
}

async function reserve(tx: Tx, input: CardLoadInput): Promise<CardLoadReserved> {
  const kept = await answerKept(tx, input);
  if (kept) {
    // The same key may have led elsewhere, by another route at the same time.
    const { resource } = kept;
    return { accepted: kept, loadId: resource?.made && resource.type === 'load' ? resource.id : null };
  }
  const resourceOf = (id: string) => ({ type: 'load', id, made: true });
  const made = await reserveLoad(
    tx,
    input,
    async (id) => void (await keepOutcome(tx, input, { resource: resourceOf(id), refusal: null })),
  );
  if (typeof made !== 'string') {
    return { accepted: await keepOutcome(tx, input, { resource: null, refusal: made }), loadId: null };
  }
  const { fingerprint } = input.request;
  return { accepted: { fingerprint, resource: resourceOf(made), refusal: null }, loadId: made };
}

/** Proven that this call made nothing: refused for good, to be mended by a person, or to be sent again. */
async function notMade(
  deps: ActivityDeps,
  record: LoadRecord,
  of: { error: ProviderError; ticket: bigint; tries: number; traceId: string },
): Promise<CardLoadSeen> {
  const { error, ticket, tries, traceId } = of;
  if (error.kind === 'rejected') {
    // What an earlier call made may stand behind it: not a failure, but unknown.
    if (!isDefiniteRefusal(record.state, error)) throw error;
    const refusal = { reason: ISSUER_DECLINED, declineReason: error.code };
    return apply(deps, record, { made: false, ticket, traceId, ...refusal });
  }
  if (error.kind !== 'misconfigured')
    return later(deps, record, { waitMs: error.retryAfterMs ?? paceMs(deps.config, tries) });
  await raiseAlert(queriesOf(deps.pool), {
    key: loadAlertKey(record.id),
    kind: 'provider_misconfigured',
    book: record.book,
    subject: { type: 'load', id: record.id },
    detail: error.message,
    traceId,
  });
  return later(deps, record, { waitMs: deps.config.SVERKA_MISCONFIGURED_INTERVAL, needsOperator: true });
}

async function apply(
  deps: ActivityDeps,
  { id, cardId, book, merchantId, state: from }: LoadRecord,
  answer: Omit<LoadAnswer, 'id' | 'actor'>,
): Promise<CardLoadSeen> {
  const record = await retrying(() => inTransaction(deps.pool, (tx) => applyLoad(tx, { ...answer, id, actor: ACTOR })));
  if (record.state !== from) {
    const about = { load_id: id, card_id: cardId, merchant_id: merchantId, book, reason: record.reason };
    deps.log.info('load moved', { trace_id: answer.traceId, from_state: from, to_state: record.state, ...about });
  }
  // An answer that came too late to count is asked for again.
  return seen(record, isDone(record) ? null : paceMs(deps.config, 0));
}

async function later(
  deps: ActivityDeps,
  record: LoadRecord,
  { waitMs, needsOperator = record.needsOperator }: { waitMs: number; needsOperator?: boolean },
): Promise<CardLoadSeen> {
  await touchLoad(queriesOf(deps.pool), record.id, needsOperator);
  return seen({ ...record, needsOperator }, waitMs);
}

function seen(record: LoadRecord, waitMs: number | null): CardLoadSeen {
  const { state, merchantId, reason, needsOperator } = record;
  return { state, merchantId, reason, needsOperator, next: isDone(record) ? 'end' : 'create', waitMs };
}
