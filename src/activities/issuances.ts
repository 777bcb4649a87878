import type { IssuanceRecord } from '../contracts/card.js';
import type { IssuanceInput, IssuanceReserved, IssuanceSeen } from '../contracts/messages.js';
import { toAmount } from '../contracts/values.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { cardFee } from '../db/cards.js';
import { failIssuance, submitIssuance, suspectIssuance } from '../db/finish-issuance.js';
import { selectWaiting } from '../db/inbox.js';
import { latestIssuance, readIssuance, touchIssuance } from '../db/issuances.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { reserveIssuance } from '../db/reserve-issuance.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { decimalsOf } from '../domain/assets.js';
import { CARDHOLDER_ERASED, ISSUER_DECLINED } from '../domain/issuance.js';
import { formatAmount } from '../domain/money.js';
import { ProviderError } from '../providers/errors.js';
import { makeTraceparent } from '../telemetry/trace.js';
import { readCardholderIdentity } from './cardholder-identity.js';
import type { ActivityDeps } from './deps.js';
import { type OfIssuance, seen, whereItStands } from './issuance-seen.js';
import { answerKept, keepOutcome, reserveOrRefuse } from './keep-request.js';
import { paceMs } from './pace.js';
import { applyIssuanceRead, cardSubject, toReading } from './read-issuance.js';

export type IssuanceActivities = ReturnType<typeof createIssuanceActivities>;

const ACTOR = 'worker:issuer';

/** Making a card: reserve load and fee, commit the intent, create once at the issuer; `issuance-reads.ts` asks then. */
export function createIssuanceActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Card, issuance, request and hold in one commit, or the refusal; a second run has the first's row. */
    async databaseReserveIssuance(input: IssuanceInput): Promise<IssuanceReserved> {
      return reserveOrRefuse(deps, input, {
        reserve: (tx) => reserve(tx, input),
        amount: async (tx) => toAmount(BigInt(input.load) + ((await cardFee(tx, input)) ?? 0n), input.asset),
        refused: (accepted) => ({ accepted, issuanceId: null }),
      });
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

/** Proven that nothing was made: refused for good, to be mended by a person, or to be sent again. */
async function notMade(
  deps: ActivityDeps,
  record: IssuanceRecord,
  of: { error: ProviderError; tries: number; traceId: string },
): Promise<IssuanceSeen> {
  const { error, tries, traceId } = of;
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
  const { SVERKA_MISCONFIGURED_INTERVAL, SVERKA_CREATE_RETRY_INTERVAL_MAX: longestMs } = deps.config;
  // What a person must mend is tried at its own pace.
  const waitMs = misconfigured
    ? SVERKA_MISCONFIGURED_INTERVAL
    : (error.retryAfterMs ?? paceMs(deps.config, tries, longestMs));
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
