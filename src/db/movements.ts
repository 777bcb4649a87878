import { isId } from '../contracts/ids.js';
import type { EntryRecord, MovementRecord } from '../contracts/movement.js';
import { addPeriod, createWhere, type Scope, type Wanted, type Where } from './lists.js';
import { movementId, operationKeysOf } from './new-id.js';
import type { Tx } from './transaction.js';

export interface MovementFilters {
  readonly kind?: readonly string[] | undefined;
  readonly subjectType?: readonly string[] | undefined;
  readonly subjectId?: readonly string[] | undefined;
  readonly asset?: readonly string[] | undefined;
  readonly customerRef?: readonly string[] | undefined;
}

/** A movement with its position in the list it was read from. */
export interface ListedMovement {
  readonly movement: MovementRecord;
  readonly position: string;
}

interface MovementRow {
  rowId: bigint;
  position: string;
  key: Buffer;
  kind: string;
  subjectType: string;
  subjectId: string;
  generation: number;
  compensates: Buffer | null;
  reference: string | null;
  traceId: string | null;
  recordedAt: Date;
}

/** How many movements a reader may number before it reads in commit order; a sealer numbers the rest. */
const SEALED_AT_ONCE = 1_000;

const SELECT = `m.id as "rowId", m.key, m.kind, m.subject_type as "subjectType", m.subject_id as "subjectId",
  m.generation, m.compensates, m.reference, m.trace_id as "traceId", m.recorded_at as "recordedAt"`;

/** The merchant's movement of that public id, his customers' included; null for anything else. */
export async function findMovement(db: Tx, of: Scope, id: string): Promise<MovementRecord | null> {
  if (!isId('movement', id)) return null;
  // A range of the unique index.
  const [from, to] = operationKeysOf(id);
  const rows = await db.query<MovementRow>(
    `select ${SELECT}, m.id::text as position from ledger.movement m
      where m.key between $1 and $2 and m.book = $3 and m.merchant_id = $4`,
    [from, to, of.book, of.merchantId],
  );
  const [found] = await withEntries(db, rows);
  return found?.movement ?? null;
}

/** Newest first; the position is the movement's row number. */
export async function listMovements(
  db: Tx,
  of: Scope,
  { filters, page }: Wanted<MovementFilters>,
): Promise<ListedMovement[]> {
  const where = filtered(of, { filters, page });
  if (page.after !== null) where.add((p) => `m.id < ${p(page.after)}::bigint`);
  const rows = await db.query<MovementRow>(
    `select ${SELECT}, m.id::text as position from ledger.movement m
      where ${where.sql()} order by m.id desc limit ${where.parameter(page.limit + 1)}`,
    where.params,
  );
  return withEntries(db, rows);
}

/**
 * In commit order, oldest first: nothing ever slips in behind a position that was handed out. `end` is the last
 * position that was looked at, so that a follower of a quiet merchant does not look at the same rows again.
 */
export async function followMovements(
  db: Tx,
  of: Scope,
  { filters, page }: Wanted<MovementFilters>,
): Promise<{ movements: ListedMovement[]; end: string }> {
  await db.query('select sverka.seal($1)', [SEALED_AT_ONCE]);
  const where = filtered(of, { filters, page });
  const after = where.parameter(page.after ?? '0');
  const rows = await db.query<MovementRow | { rowId: null; end: string }>(
    `select f.*, e.end from (select coalesce(max(position), 0)::text as end from sverka.movement_seal) e
       left join lateral (
         select ${SELECT}, s.position::text as position, s.position as place
           from sverka.movement_seal s join ledger.movement m on m.id = s.movement_id
          where s.position > ${after}::bigint and ${where.sql()}
          order by s.position limit ${where.parameter(page.limit + 1)}) f on true
      order by f.place`,
    where.params,
  );
  const end = rows[0] && 'end' in rows[0] ? rows[0].end : '0';
  const found = rows.filter((row): row is MovementRow => row.rowId !== null);
  return { movements: await withEntries(db, found), end };
}

function filtered(of: Scope, { filters, page }: Wanted<MovementFilters>): Where {
  const where = createWhere();
  where.add((p) => `m.book = ${p(of.book)} and m.merchant_id = ${p(of.merchantId)}`);
  const columns = [
    ['m.kind', filters.kind],
    ['m.subject_type', filters.subjectType],
    ['m.subject_id', filters.subjectId],
  ] as const;
  for (const [column, values] of columns) {
    if (values?.length) where.add((p) => `${column} = any (${p(values)}::text[])`);
  }
  if (filters.asset?.length) where.add((p) => hasEntry(`a.asset = any (${p(filters.asset)}::text[])`));
  if (filters.customerRef?.length) {
    where.add((p) =>
      hasEntry(`a.customer_id in (select c.id from sverka.customer c where c.book = m.book
        and c.merchant_id = m.merchant_id and c.ref = any (${p(filters.customerRef)}::text[]))`),
    );
  }
  addPeriod(where, 'm.recorded_at', page);
  return where;
}

function hasEntry(condition: string): string {
  return `exists (select from ledger.entry e join ledger.account a on a.id = e.account_id
    where e.movement_id = m.id and ${condition})`;
}

type EntryRow = Omit<EntryRecord, 'amount' | 'balance'> & { rowId: bigint; amount: string; balance: string };

async function withEntries(db: Tx, rows: readonly MovementRow[]): Promise<ListedMovement[]> {
  if (rows.length === 0) return [];
  const entries = await db.query<EntryRow>(
    `select e.movement_id as "rowId", a.kind, a.merchant_id as "merchantId", a.customer_id as "customerId",
       c.ref as "customerRef", nullif(a.ref, '') as ref, a.asset, e.seq, e.amount::text, e.balance::text
     from ledger.entry e join ledger.account a on a.id = e.account_id
       left join sverka.customer c on c.id = a.customer_id
     where e.movement_id = any ($1::bigint[]) order by e.movement_id, a.asset collate "C", e.amount, e.account_id`,
    [rows.map((row) => row.rowId)],
  );
  return rows.map((row) => ({
    position: row.position,
    movement: toRecord(
      row,
      entries.filter((entry) => entry.rowId === row.rowId),
    ),
  }));
}

function toRecord(row: MovementRow, entries: readonly EntryRow[]): MovementRecord {
  return {
    id: movementId(row.key),
    kind: row.kind,
    subjectType: row.subjectType,
    subjectId: row.subjectId,
    generation: row.generation,
    recordedAt: row.recordedAt,
    traceId: row.traceId,
    compensates: row.compensates && movementId(row.compensates),
    reference: row.reference,
    entries: entries.map((entry) => ({ ...entry, amount: BigInt(entry.amount), balance: BigInt(entry.balance) })),
  };
}
