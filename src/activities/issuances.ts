import type { IssuanceRecord } from '../contracts/card.js';
import type { IssuanceInput, IssuanceReserved, IssuanceSeen } from '../contracts/messages.js';
import { toAmount } from '../contracts/values.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { cardFee } from '../db/cards.js';
import { failIssuance, submitIssuance, suspectIssuance } from '../db/finish-issuance.js';
import { selectWaiting, type WaitingRow } from '../db/inbox.js';
import { raiseIssuanceAlert } from '../db/issuance-alert.js';
import { latestIssuance, readIssuanceForCall, touchIssuance } from '../db/issuances.js';
import { reserveIssuance } from '../db/reserve-issuance.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { decimalsOf } from '../domain/assets.js';
import { CARDHOLDER_ERASED, ISSUER_DECLINED } from '../domain/issuance.js';
import { formatAmount } from '../domain/money.js';
import { ProviderError } from '../providers/errors.js';
import type { IssuerCardRequest } from '../providers/issuer/client.js';
import type { IssuerCard } from '../providers/issuer/schema.js';
import { KeyError } from '../providers/keys/key-provider.js';
import { makeTraceparent } from '../telemetry/trace.js';
import { readCardholderIdentity } from './cardholder-identity.js';
import type { ActivityDeps } from './deps.js';
import { NothingSent } from './errors.js';
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
    async providerCreateIssuance(of: OfCreate): Promise<IssuanceSeen> {
      const prepared = await nothingSent(deps, of, () => prepare(deps, of));
      if ('next' in prepared) return prepared;
      const { record, waiting, ticket, card } = prepared;
      let made: IssuerCard;
      try {
        const issuer = deps.issuer({ book: record.book, account: record.providerAccount });
        made = await issuer.createCard(card, { traceparent: makeTraceparent(of.traceId) });
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.provesNothingMade) throw error;
        return nothingSent(deps, of, () => notMade(deps, record, { error, ...of }));
      }
      const answer = { found: 'one', card: toReading(made) } as const;
      const applied = await applyIssuanceRead(deps, record, { answer, ticket, waiting, traceId: of.traceId });
      // One that waited for its account to be mended says that it is.
      if (record.needsOperator) await resolveAlert(db, misconfiguredKey(record));
      return whereItStands(deps, applied.record);
    },

    /** Notes that nobody knows whether it was made. Never a failure: it is looked up by our reference. */
    async databaseSuspectIssuance(of: OfIssuance): Promise<IssuanceSeen> {
      return suspect(deps, of);
    },
  };
}

/** One create of that run; `tries`: how many went before that made nothing. */
interface OfCreate extends OfIssuance {
  readonly runId: string;
  readonly tries: number;
}

interface PreparedCreate {
  readonly record: IssuanceRecord;
  readonly card: IssuerCardRequest;
  readonly waiting: readonly WaitingRow[];
  readonly ticket: bigint;
}

/** All that the create needs, or where the issuance stands when this run may not send it. */
async function prepare(deps: ActivityDeps, of: OfCreate): Promise<PreparedCreate | IssuanceSeen> {
  const db = queriesOf(deps.pool);
  const { record, ticket } = await readIssuanceForCall(db, of.id);
  if (record.state !== 'submitted') return whereItStands(deps, record);
  // A reset run: what the run before it has sent, nobody knows.
  if (record.submittedBy !== of.runId) return suspect(deps, of);
  const { cardholderId: id, cardholderRevision: revision, product, asset } = record;
  const holder = await readCardholderIdentity(db, deps.keys, { id, revision });
  if (holder === null) return fail(deps, record, { reason: CARDHOLDER_ERASED, traceId: of.traceId });
  const load = { amount: formatAmount(record.loadAmount, decimalsOf(asset)), asset };
  const waiting = await selectWaiting(db, cardSubject(record, record.id));
  return { record, card: { reference: record.id, product, holder, load }, waiting, ticket };
}

/** What fails in here fails although nothing can have been made: the workflow sends the create later. */
async function nothingSent<T>(deps: ActivityDeps, of: OfCreate, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { config } = deps;
    const needsPerson = error instanceof KeyError && error.kind !== 'unavailable';
    if (needsPerson || of.tries >= config.SVERKA_UNKNOWN_ALERT_LOOKS) {
      // Perhaps it is the database that is away: then its own alerts tell.
      await tellUnsendable(deps, of).catch(() => undefined);
    }
    throw new NothingSent(paceMs(config, of.tries, config.SVERKA_CREATE_RETRY_INTERVAL_MAX), { cause: error });
  }
}

async function tellUnsendable({ pool }: ActivityDeps, { id, traceId }: OfCreate): Promise<void> {
  const db = queriesOf(pool);
  const { book } = await touchIssuance(db, id, true);
  const detail =
    'An issuance cannot be sent to the issuer; the worker’s log says why. It goes on by itself once that is mended; ' +
    'erasing its cardholder ends it, and gives the money back.';
  await raiseIssuanceAlert(db, { id, book }, { detail, traceId });
}

async function suspect(deps: ActivityDeps, of: OfIssuance): Promise<IssuanceSeen> {
  const record = await retrying(() => inTransaction(deps.pool, (tx) => suspectIssuance(tx, { ...of, actor: ACTOR })));
  return whereItStands(deps, record);
}

async function reserve(tx: Tx, input: IssuanceInput): Promise<IssuanceReserved> {
  const kept = await answerKept(tx, input);
  if (kept) {
    // The same key may have led elsewhere, by another route at the same time.
    const cardId = kept.resource?.made && kept.resource.type === 'card' ? kept.resource.id : null;
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
