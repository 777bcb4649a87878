import type pg from 'pg';
import type { Refusal } from '../contracts/messages.js';
import type { MovementRecord } from '../contracts/movement.js';
import type { Book } from '../domain/books.js';
import { findMovement } from './movements.js';
import { movementId } from './new-id.js';
import { type BalanceCheckItem, readBalanceChecks } from './trace-balances.js';
import { type CardChangeItem, readChangeItems } from './trace-cards.js';
import { type TraceScope, traceScope } from './trace-scope.js';
import { inTransaction, type Tx } from './transaction.js';

/** Something that a trace names: our word for it and its id; a provider's own id where we have none. */
export interface TraceSubject {
  readonly type: string;
  readonly id: string;
}

/** One thing that happened, without bodies, hashes, or anything secret. */
export type TraceItem =
  | (At<'merchant' | 'customer' | 'user'> & { readonly id: string; readonly name: string })
  | (At<'api_key' | 'api_key_revoked'> & { readonly id: string; readonly book: Book; readonly access: string })
  | WebhookItem
  | RequestItem
  | MoveItem
  | CardChangeItem
  | (At<'movement'> & { readonly movement: MovementRecord })
  | (At<'event'> & AboutSubject & { readonly id: string; readonly type: string; readonly version: number })
  | AlertItem
  | BalanceCheckItem
  | DeadLetterItem
  | DecisionItem;

interface At<Kind extends string> {
  readonly kind: Kind;
  readonly at: Date;
}
interface AboutSubject {
  readonly subject: TraceSubject | null;
  readonly traceId: string | null;
}
export interface WebhookItem extends At<'webhook'>, AboutSubject {
  readonly id: string;
  readonly provider: string;
  readonly endpoint: string;
  readonly deliveryId: string;
  readonly type: string | null;
  readonly status: string;
  readonly reason: string | null;
  /** How many other bodies came under the same delivery id. */
  readonly conflicts: number;
  readonly doneAt: Date | null;
}
export interface RequestItem extends At<'request'>, AboutSubject {
  readonly id: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly made: boolean | null;
  readonly refusal: Refusal | null;
}
export interface MoveItem extends At<'move'>, AboutSubject {
  readonly from: string | null;
  readonly to: string;
  readonly version: number;
  readonly actor: string;
  readonly reason: string | null;
}
export interface AlertItem extends At<'alert'>, AboutSubject {
  readonly id: string;
  readonly type: string;
  readonly detail: string;
  readonly state: string;
  readonly times: number;
}

export interface DeadLetterItem extends At<'dead_letter'> {
  readonly id: string;
  readonly inboxId: string;
  readonly reason: string;
  readonly attempts: number;
  readonly replays: number;
  readonly state: 'open' | 'abandoned' | 'applied';
}
export interface DecisionItem extends At<'decision'>, AboutSubject {
  readonly id: string;
  readonly stage: string;
  readonly choice: string;
  readonly userId: string;
  readonly reason: string;
  /** What came of it; null while nobody has applied it. `detail` says what was done, or why not. */
  readonly outcome: 'applied' | 'void' | null;
  readonly detail: string | null;
}

export interface Trace {
  readonly scope: TraceScope;
  /** In order of time; what happened at one time stands as one thing led to the next. */
  readonly items: readonly TraceItem[];
  /** True when there is more of some kind than is shown. */
  readonly truncated: boolean;
}

/** Of each kind, the newest. */
const ITEMS_MAX = 500;
/** Movements have no index by subject: a large journal takes longer than the role's own limit for short statements. */
const TIME_LIMIT = '60s';

/** Everything that the database holds about one id, in one snapshot; no items when nothing is known of it. */
export async function readTrace(pool: pg.Pool, id: string, book: Book | null): Promise<Trace> {
  return readStory(pool, { id, book, movements: readMovements });
}

/** The same of a deposit, an issuance or a card, at once also beside a large journal: it knows its own movements. */
export async function readSubjectTrace(pool: pg.Pool, id: string): Promise<Trace> {
  return readStory(pool, { id, book: null, movements: readOwnMovements });
}

interface Story {
  readonly id: string;
  readonly book: Book | null;
  readonly movements: (tx: Tx, scope: TraceScope) => Promise<TraceItem[]>;
}

function readStory(pool: pg.Pool, { id, book, movements }: Story): Promise<Trace> {
  return inTransaction(
    pool,
    async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = '${TIME_LIMIT}'`);
      const found = await traceScope(tx, id);
      const scope = book === null ? found : { ...found, book };
      const webhooks = await readWebhooks(tx, scope);
      const letters = await readDeadLetters(tx, scope);
      const lists = [
        await readPeople(tx, scope),
        await readKeys(tx, scope),
        await readRequests(tx, scope),
        webhooks,
        await readMoves(tx, scope),
        await readChangeItems(tx, { ...scope, limit: ITEMS_MAX + 1 }),
        await movements(tx, scope),
        await readBalanceChecks(tx, { ...scope, limit: ITEMS_MAX + 1 }),
        await readEvents(tx, scope),
        await readAlerts(tx, scope, webhooks),
        letters,
        await readDecisions(tx, scope, letters),
      ];
      const shown = lists.flatMap((list) => list.slice(0, ITEMS_MAX).reverse());
      // Stable: of one moment, the kinds stay in the order above.
      const items = shown.sort((a, b) => a.at.getTime() - b.at.getTime());
      return { scope, items, truncated: lists.some((list) => list.length > ITEMS_MAX) };
    },
    'snapshot',
  );
}

const NEWEST = `limit ${ITEMS_MAX + 1}`;
const SUBJECT = (type: string, id: string) =>
  `case when ${id} is null then null else json_build_object('type', ${type}, 'id', ${id}) end as subject`;
/** $1 subjects, $2 trace ids, $3 merchant, $4 book. */
const paramsOf = ({ subjects, traceIds, merchantId, book }: TraceScope) => [subjects, traceIds, merchantId, book];

async function readPeople(tx: Tx, scope: TraceScope): Promise<TraceItem[]> {
  return tx.query(
    `select 'merchant' as kind, created_at as at, id, name from sverka.merchant where id = any ($1)
     union all select 'customer', created_at, id, ref from sverka.customer
       where (id = any ($1) or merchant_id = $2) and ($3::text is null or book = $3)
     union all select 'user', created_at, id, login from sverka."user" where id = any ($1)
     order by at desc ${NEWEST}`,
    [scope.subjects, scope.merchantId, scope.book],
  );
}

async function readKeys(tx: Tx, scope: TraceScope): Promise<TraceItem[]> {
  return tx.query(
    `select case n when 1 then 'api_key' else 'api_key_revoked' end as kind,
       case n when 1 then created_at else revoked_at end as at, id, book, access
     from sverka.api_key cross join generate_series(1, 2) n
     where (id = any ($1) or merchant_id = $2) and ($3::text is null or book = $3) and (n = 1 or revoked_at is not null)
     order by at desc ${NEWEST}`,
    [scope.subjects, scope.merchantId, scope.book],
  );
}

async function readRequests(tx: Tx, scope: TraceScope): Promise<TraceItem[]> {
  return tx.query(
    `select 'request' as kind, created_at as at, id, key, method, path, made, refusal, trace_id as "traceId",
       ${SUBJECT('resource_type', 'resource_id')}
     from sverka.request
     where (id = any ($1) or resource_id = any ($1) or trace_id = any ($2) or merchant_id = $3)
       and ($4::text is null or book = $4)
     order by created_at desc ${NEWEST}`,
    paramsOf(scope),
  );
}

async function readWebhooks(tx: Tx, scope: TraceScope): Promise<WebhookItem[]> {
  return tx.query(
    `select 'webhook' as kind, i.received_at as at, i.id, i.provider, i.endpoint, i.delivery_id as "deliveryId",
       i.event_type as type, i.status, i.reason, i.done_at as "doneAt", i.trace_id as "traceId",
       (select count(*)::int from sverka.inbox_conflict c where c.inbox_id = i.id) as conflicts,
       ${SUBJECT('i.subject_type', 'i.subject_ref')}
     from sverka.inbox i
     where (i.id = any ($1) or i.trace_id = any ($2)
         or (i.provider, i.endpoint, i.subject_ref) in (select * from unnest($4::text[], $5::text[], $6::text[])))
       and ($3::text is null or i.book = $3)
     order by i.received_at desc, i.id desc ${NEWEST}`,
    [
      scope.subjects,
      scope.traceIds,
      scope.book,
      scope.refs.map(({ provider }) => provider),
      scope.refs.map(({ account }) => account),
      scope.refs.map(({ ref }) => ref),
    ],
  );
}

async function readMoves(tx: Tx, scope: TraceScope): Promise<TraceItem[]> {
  return tx.query(
    `select 'move' as kind, recorded_at as at, from_state as "from", to_state as "to", version, actor, reason,
       trace_id as "traceId", ${SUBJECT('subject_type', 'subject_id')}
     from sverka.audit
     where (subject_id = any ($1) or trace_id = any ($2) or merchant_id = $3)
       and ($4::text is null or book in ($4, 'both'))
     order by id desc ${NEWEST}`,
    paramsOf(scope),
  );
}

async function readMovements(tx: Tx, scope: TraceScope): Promise<TraceItem[]> {
  const rows = await tx.query<{ key: Buffer; book: Book; merchantId: string }>(
    `select m.key, m.book, m.merchant_id as "merchantId" from ledger.movement m
     where (m.subject_id = any ($1) or m.trace_id = any ($2) or m.merchant_id = $3
         or m.id in (select e.movement_id from ledger.entry e join ledger.account a on a.id = e.account_id
                      where a.customer_id = $5))
       and ($4::text is null or m.book = $4)
     order by m.id desc ${NEWEST}`,
    [...paramsOf(scope), scope.customerId],
  );
  return movementItems(
    tx,
    rows.map(({ key, ...of }) => ({ ...of, id: movementId(key) })),
  );
}

/** What the subjects of this story have noted as theirs, and what touched the accounts of its cards. */
async function readOwnMovements(tx: Tx, { subjects }: TraceScope): Promise<TraceItem[]> {
  const noted = await tx.query<{ id: string; book: Book; merchantId: string }>(
    `select unnest(movement_ids) as id, book, merchant_id as "merchantId" from (
       select movement_ids, book, merchant_id from sverka.deposit where id = any ($1)
       union all select movement_ids, book, merchant_id from sverka.issuance where id = any ($1)
       union all select movement_ids, book, merchant_id from sverka.card_load where id = any ($1)
       union all select movement_ids, book, merchant_id from sverka.withdrawal where id = any ($1)) s`,
    [subjects],
  );
  const onCards = await tx.query<{ key: Buffer; book: Book; merchantId: string }>(
    `select m.key, m.book, m.merchant_id as "merchantId" from sverka.card c
       join ledger.account a on a.book = c.book and a.merchant_id = c.merchant_id and a.customer_id is null
         and a.kind = 'card' and a.ref = c.id
       join ledger.entry e on e.account_id = a.id join ledger.movement m on m.id = e.movement_id
      where c.id = any ($1) order by m.id desc ${NEWEST}`,
    [subjects],
  );
  const all = [...noted, ...onCards.map(({ key, ...of }) => ({ ...of, id: movementId(key) }))];
  const unique = new Map(all.map((each) => [each.id, each]));
  const items = await movementItems(tx, [...unique.values()]);
  return items.sort((a, b) => b.at.getTime() - a.at.getTime());
}

async function movementItems(
  tx: Tx,
  named: readonly { id: string; book: Book; merchantId: string }[],
): Promise<TraceItem[]> {
  const items: TraceItem[] = [];
  for (const { id, ...of } of named) {
    const movement = await findMovement(tx, of, id);
    if (movement) items.push({ kind: 'movement', at: movement.recordedAt, movement });
  }
  return items;
}

async function readEvents(tx: Tx, scope: TraceScope): Promise<TraceItem[]> {
  return tx.query(
    `select 'event' as kind, created_at as at, id, type, version, trace_id as "traceId",
       ${SUBJECT('subject_type', 'subject_id')}
     from sverka.event
     where (id = any ($1) or subject_id = any ($1) or trace_id = any ($2) or merchant_id = $3)
       and ($4::text is null or book = $4)
     order by created_at desc, version desc ${NEWEST}`,
    paramsOf(scope),
  );
}

/** Alerts about a subject, and those about none that a notification of this story raised. */
async function readAlerts(tx: Tx, scope: TraceScope, webhooks: readonly WebhookItem[]): Promise<TraceItem[]> {
  return tx.query(
    `select 'alert' as kind, last_seen_at as at, id, kind as type, detail, state, times, trace_id as "traceId",
       ${SUBJECT('subject_type', 'subject_id')}
     from sverka.alert
     where (id = any ($1) or subject_id = any ($1) or subject_id = any ($4) or trace_id = any ($2)
         or subject_type = 'inbox' and subject_id = any ($6) or subject_id is null and trace_id = any ($5))
       and ($3::text is null or book is null or book = $3)
     order by last_seen_at desc ${NEWEST}`,
    [
      scope.subjects,
      scope.traceIds,
      scope.book,
      scope.refs.map(({ ref }) => ref),
      webhooks.map(({ traceId }) => traceId),
      webhooks.map(({ id }) => id),
    ],
  );
}

async function readDeadLetters(tx: Tx, scope: TraceScope): Promise<DeadLetterItem[]> {
  return tx.query(
    `select 'dead_letter' as kind, l.created_at as at, l.id, l.inbox_id as "inboxId", l.reason, l.attempts,
       l.replays, coalesce(l.closed_how, 'open') as state
     from sverka.dead_letter l join sverka.inbox i on i.id = l.inbox_id
     where (l.id = any ($1) or i.id = any ($1) or l.trace_id = any ($2)
         or (i.provider, i.endpoint, i.subject_ref) in (select * from unnest($4::text[], $5::text[], $6::text[])))
       and ($3::text is null or i.book = $3)
     order by l.created_at desc ${NEWEST}`,
    [
      scope.subjects,
      scope.traceIds,
      scope.book,
      scope.refs.map(({ provider }) => provider),
      scope.refs.map(({ account }) => account),
      scope.refs.map(({ ref }) => ref),
    ],
  );
}

/** Decisions on a subject, and on the dead letters of its notifications. */
async function readDecisions(tx: Tx, scope: TraceScope, letters: readonly DeadLetterItem[]): Promise<TraceItem[]> {
  return tx.query(
    `select 'decision' as kind, d.created_at as at, d.id, d.stage, d.choice, d.user_id as "userId", d.reason,
       o.outcome, o.detail, d.trace_id as "traceId", ${SUBJECT('d.subject_type', 'd.subject_id')}
     from sverka.decision d left join sverka.decision_outcome o on o.decision_id = d.id
     where d.id = any ($1) or d.subject_id = any ($1) or d.subject_id = any ($3) or d.user_id = any ($1)
       or d.trace_id = any ($2)
     order by d.created_at desc ${NEWEST}`,
    [scope.subjects, scope.traceIds, letters.map(({ id }) => id)],
  );
}
