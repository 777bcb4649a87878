import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { IssuanceRecord } from '../contracts/card.js';
import type {
  IssuanceInput,
  IssuancePages,
  IssuanceReconcileInput,
  IssuanceRef,
  IssuanceReserved,
  IssuanceSeen,
} from '../contracts/messages.js';
import { toAmount } from '../contracts/values.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { HoldRefused } from '../db/book-issuance.js';
import { cardFee } from '../db/cards.js';
import { noteCheckRun } from '../db/check-runs.js';
import { failIssuance, submitIssuance, suspectIssuance } from '../db/finish-issuance.js';
import { selectWaiting } from '../db/inbox.js';
import { findIssuanceOf, issuancesToRead, latestIssuance, readIssuance, touchIssuance } from '../db/issuances.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { holdRefusal, reserveIssuance, tellRefused } from '../db/reserve-issuance.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { decimalsOf } from '../domain/assets.js';
import { CARDHOLDER_ERASED, ISSUER_DECLINED, RUN_LOST } from '../domain/issuance.js';
import { formatAmount } from '../domain/money.js';
import { ProviderError } from '../providers/errors.js';
import { makeTraceparent } from '../telemetry/trace.js';
import { readCardholderIdentity } from './cardholder-identity.js';
import type { ActivityDeps } from './deps.js';
import { answerKept, keepOutcome } from './keep-request.js';
import { applyIssuanceRead, cardSubject, keepUnmatched, readAndApply, toReading } from './read-issuance.js';

export type IssuanceActivities = ReturnType<typeof createIssuanceActivities>;

/** One issuance, as its workflow follows it. */
export interface OfIssuance {
  readonly id: string;
  readonly traceId: string;
}

const ACTOR = 'worker:issuer';
/** Issuances asked about in one page of the reconciliation. */
const PAGE = 50;

/** Making a card: reserve load and fee, commit the intent, create once at the issuer, then ask until it is certain. */
export function createIssuanceActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Card, issuance, request and hold in one commit, or the refusal; any second run is answered by the first's row. */
    async databaseReserveIssuance(input: IssuanceInput): Promise<IssuanceReserved> {
      try {
        return await retrying(() => inTransaction(deps.pool, (tx) => reserve(tx, input)));
      } catch (error) {
        if (!(error instanceof HoldRefused)) throw error;
        return retrying(() => inTransaction(deps.pool, (tx) => refuse(tx, input, error)));
      }
    },

    /** Commits the intent, before anything is sent. Only the run that did so may send the create. */
    async databaseSubmitIssuance(of: OfIssuance & { runId: string; after?: string }): Promise<IssuanceSeen> {
      const record = await retrying(() =>
        inTransaction(deps.pool, (tx) => submitIssuance(tx, { ...of, actor: ACTOR })),
      );
      const mine = record.state === 'submitted' && record.submittedBy === of.runId;
      return mine ? seen(record, { next: 'create', waitMs: null }) : whereItStands(deps, record);
    },

    /** One POST, outside any transaction. What proves that nothing was made leaves it to be sent again. */
    async providerCreateIssuance(of: OfIssuance & { runId: string; tries: number }): Promise<IssuanceSeen> {
      const record = await readIssuance(db, of.id);
      if (record.state !== 'submitted' || record.submittedBy !== of.runId) return whereItStands(deps, record);
      const identity = await readCardholderIdentity(db, deps.keys, {
        id: record.cardholderId,
        revision: record.cardholderRevision,
      });
      if (identity === null) return fail(deps, record, { reason: CARDHOLDER_ERASED, traceId: of.traceId });
      const waiting = await selectWaiting(db, cardSubject(record, record.id));
      const ticket = await takeReadTicket(db);
      try {
        const { product, asset } = record;
        const load = { amount: formatAmount(record.loadAmount, decimalsOf(asset)), asset };
        const made = await deps
          .issuer({ book: record.book, account: record.providerAccount })
          .createCard(
            { reference: record.id, product, holder: identity, load },
            { traceparent: makeTraceparent(of.traceId) },
          );
        const answer = { found: 'one', card: toReading(made) } as const;
        const applied = await applyIssuanceRead(deps, record, { answer, ticket, waiting, traceId: of.traceId });
        // One that waited for its account to be mended says that it is.
        if (record.needsOperator) await resolveAlert(db, misconfiguredKey(record));
        return whereItStands(deps, applied.record);
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.provesNothingMade) throw error;
        return notMade(deps, record, { error, ...of });
      }
    },

    /** Notes that nobody knows whether it was made. Never a failure: it is looked up by our reference. */
    async databaseSuspectIssuance(of: OfIssuance): Promise<IssuanceSeen> {
      const record = await retrying(() =>
        inTransaction(deps.pool, (tx) => suspectIssuance(tx, { ...of, actor: ACTOR })),
      );
      return whereItStands(deps, record);
    },

    /** Reads it by our reference and applies the answer, with what a person has decided. */
    async providerReadIssuance(of: OfIssuance & { looks: number }): Promise<IssuanceSeen> {
      const record = await readIssuance(db, of.id);
      const { applied, absent } = await readAndApply(deps, record, of);
      if (applied.outcome === 'stale') return seen(applied.record, { next: 'look', waitMs: null });
      return whereItStands(deps, applied.record, absent ? of.looks : 0);
    },

    /** The same for a notification that nobody follows any more (R13); one that names nothing of ours is kept. */
    async providerReadIssuanceOf(of: IssuanceRef): Promise<{ state: string }> {
      const record = await findIssuanceOf(db, of);
      if (!record) return { state: await keepUnmatched(deps, of) };
      // Of a run that has ended before it sent anything nobody will: nothing was made. After that nobody knows.
      if (record.state === 'reserved') {
        const { state } = await fail(deps, record, { reason: RUN_LOST, traceId: of.traceId });
        return { state };
      }
      const who = { id: record.id, actor: ACTOR, traceId: of.traceId };
      if (record.state === 'submitted')
        await retrying(() => inTransaction(deps.pool, (tx) => suspectIssuance(tx, who)));
      const { applied } = await readAndApply(deps, record, { traceId: of.traceId, looks: 0, ref: of.ref });
      return { state: applied.record.state };
    },

    /** Asks about every issuance that waits, page by page from `after`; one that cannot be read never stops the others. */
    async pageIssuances(
      input: IssuanceReconcileInput & { after: string | null; traceId: string },
    ): Promise<IssuancePages> {
      const turn: IssuancePages = { read: 0, changed: 0, failed: 0, after: input.after };
      const beganAt = new Date();
      const until = beganAt.getTime() + deps.config.SVERKA_PAGE_TURN;
      while (Date.now() < until) {
        const lateMs = deps.config.SVERKA_FOUND_LATE_AGE;
        const ids = await issuancesToRead(db, { ...input, after: turn.after, limit: PAGE, lateMs });
        for (const id of ids) await readOne(deps, { id, traceId: input.traceId }, turn);
        turn.after = ids.length < PAGE ? null : (ids.at(-1) ?? null);
        if (turn.after === null) break;
      }
      if (turn.after === null) {
        const name = `issuance_reconcile:${input.provider}:${input.account}`;
        await noteCheckRun(db, { name, beganAt, findings: turn.failed, detail: turn });
      }
      return turn;
    },
  };
}

async function reserve(tx: Tx, input: IssuanceInput): Promise<IssuanceReserved> {
  const kept = await answerKept(tx, input);
  if (kept) {
    const cardId = kept.resource?.made ? kept.resource.id : null;
    return { accepted: kept, issuanceId: cardId === null ? null : ((await latestIssuance(tx, cardId))?.id ?? null) };
  }
  const keepCard = (id: string) =>
    keepOutcome(tx, input, { resource: { type: 'card', id, made: true }, refusal: null });
  const made = await reserveIssuance(tx, input, async ({ cardId }) => void (await keepCard(cardId)));
  if ('code' in made) {
    return { accepted: await keepOutcome(tx, input, { resource: null, refusal: made }), issuanceId: null };
  }
  const resource = { type: 'card', id: made.cardId, made: true };
  const accepted = { fingerprint: input.request.fingerprint, resource, refusal: null };
  return { accepted, issuanceId: made.issuanceId };
}

/** The refusal is what the key leads to, for ever; the merchant is told once. */
async function refuse(tx: Tx, input: IssuanceInput, why: HoldRefused): Promise<IssuanceReserved> {
  const kept = await answerKept(tx, input);
  if (kept) return { accepted: kept, issuanceId: null };
  const accepted = await keepOutcome(tx, input, { resource: null, refusal: holdRefusal(why) });
  const fee = (await cardFee(tx, input)) ?? 0n;
  if (why.code === 'insufficient_funds') await tellRefused(tx, input, toAmount(BigInt(input.load) + fee, input.asset));
  return { accepted, issuanceId: null };
}

/** Proven that nothing was made: refused for good, to be mended by a person, or to be sent again. */
async function notMade(
  deps: ActivityDeps,
  record: IssuanceRecord,
  of: { error: ProviderError; tries: number; traceId: string },
): Promise<IssuanceSeen> {
  const { error, tries, traceId } = of;
  const { config } = deps;
  if (error.kind === 'rejected') return fail(deps, record, { reason: ISSUER_DECLINED, traceId });
  const misconfigured = error.kind === 'misconfigured';
  if (misconfigured) {
    await raiseAlert(queriesOf(deps.pool), {
      key: misconfiguredKey(record),
      kind: 'provider_misconfigured',
      book: record.book,
      subject: { type: 'provider', id: record.provider },
      detail: error.message,
      traceId,
    });
  }
  await touchIssuance(queriesOf(deps.pool), record.id, misconfigured || record.needsOperator);
  // Twice as long each time, until once a minute; what a person must mend is tried at its own pace.
  const paceMs = Math.min(config.SVERKA_UNKNOWN_LOOKUP_INTERVAL * 2 ** tries, config.SVERKA_CREATE_RETRY_INTERVAL_MAX);
  const waitMs = misconfigured ? config.SVERKA_MISCONFIGURED_INTERVAL : (error.retryAfterMs ?? paceMs);
  return seen({ ...record, needsOperator: misconfigured || record.needsOperator }, { next: 'create', waitMs });
}

/** One alert for an account, whatever number of issuances meets it. */
function misconfiguredKey({ provider, providerAccount }: IssuanceRecord): string {
  return `provider:${provider}:${providerAccount}`;
}

async function fail(
  deps: ActivityDeps,
  { id }: IssuanceRecord,
  of: { reason: string; traceId: string },
): Promise<IssuanceSeen> {
  const record = await retrying(() => inTransaction(deps.pool, (tx) => failIssuance(tx, { id, actor: ACTOR, ...of })));
  return whereItStands(deps, record);
}

/** One look of the reconciliation; what went wrong with it is counted, and the next one is looked at. */
async function readOne(deps: ActivityDeps, of: OfIssuance, turn: IssuancePages): Promise<void> {
  heartbeat();
  // The worker stops: what is read is committed, another attempt begins again.
  cancellationSignal().throwIfAborted();
  try {
    const record = await readIssuance(queriesOf(deps.pool), of.id);
    const { applied } = await readAndApply(deps, record, { ...of, looks: deps.config.SVERKA_UNKNOWN_ALERT_LOOKS });
    turn.read += 1;
    if (applied.outcome === 'changed') turn.changed += 1;
  } catch (error) {
    // Wrong for all of them, or not called at all: the schedule comes again.
    if (error instanceof ProviderError && (error.kind === 'misconfigured' || error.kind === 'breaker_open'))
      throw error;
    turn.failed += 1;
    const code = error instanceof ProviderError ? error.kind : error instanceof Error ? error.name : 'unknown';
    deps.log.warn('an issuance could not be read', { issuance_id: of.id, trace_id: of.traceId, code });
  }
}

/** What follows from where it stands. `looks`: how often in a row the issuer showed nothing. */
function whereItStands(deps: ActivityDeps, record: IssuanceRecord, looks = 0): IssuanceSeen {
  const { config } = deps;
  switch (record.state) {
    case 'active':
    case 'failed':
    case 'found_late':
      return seen(record, { next: 'end', waitMs: null });
    case 'unknown': {
      const paceMs = config.SVERKA_UNKNOWN_LOOKUP_INTERVAL * 2 ** Math.min(looks, 30);
      return seen(record, { next: 'look', waitMs: Math.min(paceMs, config.SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX) });
    }
    default:
      return seen(record, { next: 'look', waitMs: config.SVERKA_ISSUANCE_POLL_INTERVAL });
  }
}

function seen(record: IssuanceRecord, then: Pick<IssuanceSeen, 'next' | 'waitMs'>): IssuanceSeen {
  const { state, cardId, merchantId, flag, reason, needsOperator } = record;
  return { state, cardId, merchantId, reason: flag ?? reason, needsOperator, ...then };
}
