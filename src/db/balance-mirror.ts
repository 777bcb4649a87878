import {
  type BalanceSide,
  type BalanceTransaction,
  newestOfEach,
  newsOfAddresses,
  type StatedBalance,
} from '../domain/balance.js';
import { type Author, authorArguments } from './author.js';
import type { Tx } from './transaction.js';

/** One of our accounts at a provider of balances. */
export interface BalanceSourceKey {
  readonly book: 'live' | 'test';
  readonly provider: 'pert';
  readonly account: string;
}

/** How a mirror stands. */
export interface BalanceSource {
  readonly id: number;
  readonly merchantId: string | null;
  /** Cursor of the snapshot that the sums rest on; null before the first load. */
  readonly baseCursor: string | null;
  readonly baseNumber: number;
  /** Checks in a row that found a difference which stayed. */
  readonly differences: number;
  /** Why it is to be compared before its time. */
  readonly asked: 'webhook_gap' | 'operator' | null;
  readonly lastAction: string | null;
  readonly nextCheckAt: Date;
  /** The provider said when to ask again; null where he did not. */
  readonly notBefore: Date | null;
  /** A person has decided on it, and nobody has applied that yet. */
  readonly isDecided: boolean;
}

const COLUMNS = `s.id, s.merchant_id as "merchantId", s.base_cursor as "baseCursor", s.base_number as "baseNumber",
  s.differences, s.asked, s.last_action as "lastAction", s.next_check_at as "nextCheckAt",
  s.not_before as "notBefore",
  exists (select from sverka.decision d where d.subject_type = 'balance_source' and d.subject_id = s.key
    and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) as "isDecided"`;

/** Makes the row where there is none, and locks it: whoever writes to the mirror of a source holds this lock. */
export async function lockBalanceSource(tx: Tx, key: BalanceSourceKey): Promise<BalanceSource> {
  const [row] = await tx.query<BalanceSource>(`select ${COLUMNS} from sverka.lock_balance_source($1, $2, $3) s`, [
    ...[key.book, key.provider, key.account],
  ]);
  if (!row) throw new Error(`The source ${key.account} could not be made, although its door makes it.`);
  return row;
}

/** How it stands, without a lock; made where there is none. */
export async function readBalanceSource(tx: Tx, key: BalanceSourceKey): Promise<BalanceSource> {
  const [row] = await tx.query<BalanceSource>(
    `select ${COLUMNS} from sverka.balance_source s where s.book = $1 and s.provider = $2 and s.account = $3`,
    [key.book, key.provider, key.account],
  );
  return row ?? lockBalanceSource(tx, key);
}

/** What was new in some transactions. */
export interface Mirrored {
  /** Transactions made or replaced. */
  readonly stored: number;
  /** Addresses that changed. */
  readonly moved: number;
  /** Sides of a version older than what is known. */
  readonly stale: number;
  /** Two balances under one version (R1). */
  readonly conflicts: number;
  /** Addresses of which something between is missing. */
  readonly gaps: number;
}

const NOTHING: Mirrored = { stored: 0, moved: 0, stale: 0, conflicts: 0, gaps: 0 };

/**
 * Applies transactions in the order in which they came: stored by id, balances absolutely and by version, never added.
 * `fromJournal`: they count in our sums; what only a webhook has told is shown. Under the source's lock.
 */
export async function mirrorTransactions(
  tx: Tx,
  of: { readonly sourceId: number; readonly fromJournal: boolean },
  transactions: readonly BalanceTransaction[],
): Promise<Mirrored> {
  if (transactions.length === 0) return NOTHING;
  const newest = newestOfEach(transactions);
  const side = (name: 'from' | 'to', member: keyof BalanceSide) =>
    linesOf(newest, (each) => each[name]?.[member] ?? null);
  const news = newsOfAddresses(transactions);
  // In one call: this process reads the next page while the database works.
  const [row] = await tx.query<Mirrored>(
    `select sverka.store_transactions($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) as stored, m.*
     from sverka.move_balances($1, $13, $14, $15, $16, $17, $18, $19, $20, $21) m`,
    [
      of.sourceId,
      linesOf(newest, ({ id }) => id),
      linesOf(newest, ({ balanceVersion }) => balanceVersion),
      linesOf(newest, ({ status }) => status),
      linesOf(newest, ({ currency }) => currency),
      ...[side('from', 'address'), side('from', 'amount'), side('from', 'balance')],
      ...[side('to', 'address'), side('to', 'amount'), side('to', 'balance')],
      linesOf(newest, ({ createdAt }) => createdAt),
      of.fromJournal,
      linesOf(news, ({ address }) => address),
      linesOf(news, ({ currency }) => currency),
      linesOf(news, ({ lowest }) => lowest),
      linesOf(news, ({ lowestBalance }) => lowestBalance),
      linesOf(news, ({ lowestOut }) => lowestOut),
      linesOf(news, ({ lowestIn }) => lowestIn),
      linesOf(news, ({ highest }) => highest),
      linesOf(news, ({ highestBalance }) => highestBalance),
    ],
  );
  return row ?? NOTHING;
}

/** A column as `sverka.lines` reads it; the values are plain text, which has no line break and is never empty. */
function linesOf<T>(rows: readonly T[], valueOf: (row: T) => string | bigint | null): string {
  return rows.map(valueOf).join('\n');
}

/** What the provider states of each currency, as a snapshot has it. Under the source's lock. */
export async function stateBalances(tx: Tx, sourceId: number, stated: readonly StatedBalance[]): Promise<void> {
  await tx.query('select sverka.state_balances($1, $2, $3, $4, $5, $6)', [
    sourceId,
    stated.map(({ currency }) => currency),
    stated.map(({ balance }) => balance),
    stated.map(({ frozen }) => frozen),
    stated.map(({ held }) => held),
    stated.map(({ available }) => available),
  ]);
}

/**
 * What was stated becomes what our sums rest on, at that cursor. `isReset`: the journal cannot tell what was missed, so
 * every address is stale until it is seen again. Under the source's lock.
 */
export async function moveBalanceBase(
  tx: Tx,
  of: { readonly sourceId: number; readonly cursor: string; readonly isReset: boolean },
): Promise<void> {
  await tx.query('select sverka.move_balance_base($1, $2, $3)', [of.sourceId, of.cursor, of.isReset]);
}

/** Says whose the balances of an account are (the console's door). */
export async function assignBalanceSource(
  db: Tx,
  of: BalanceSourceKey & { readonly merchantId: string | null },
  by: Author,
): Promise<void> {
  await db.query('select sverka.assign_balance_source($1, $2, $3, $4, $5, $6)', [
    ...[of.book, of.provider, of.account, of.merchantId],
    ...authorArguments(by),
  ]);
}

/** Notes when it is looked at next, and what was done last. */
export async function noteBalanceAction(
  tx: Tx,
  of: {
    readonly sourceId: number;
    readonly action: string;
    readonly differences: number;
    readonly nextCheckMs: number;
  },
): Promise<void> {
  await tx.query(
    `update sverka.balance_source set last_action = $2, differences = $3, asked = null, checked_at = clock_timestamp(),
       next_check_at = clock_timestamp() + $4 * interval '1 millisecond' where id = $1`,
    [of.sourceId, of.action, of.differences, of.nextCheckMs],
  );
}

/** It is compared before its time: within so many milliseconds. */
export async function askBalanceCheck(
  tx: Tx,
  of: { readonly sourceId: number; readonly why: 'webhook_gap' | 'operator'; readonly withinMs: number },
): Promise<void> {
  const within = "$3::double precision * interval '1 millisecond'";
  await tx.query(`select sverka.ask_balance_check($1, $2, ${within})`, [of.sourceId, of.why, of.withinMs]);
}

/** Addresses to which webhooks told an older version: ignored, and counted. Under the source's lock. */
export async function countStaleTold(
  tx: Tx,
  { sourceId, addresses }: { readonly sourceId: number; readonly addresses: number },
): Promise<void> {
  await tx.query('update sverka.balance_source set stale_told = stale_told + $2 where id = $1', [sourceId, addresses]);
}

/** The provider is not asked before so many milliseconds. Under the source's lock. */
export async function holdBalanceChecks(
  tx: Tx,
  { sourceId, waitMs }: { readonly sourceId: number; readonly waitMs: number },
): Promise<void> {
  await tx.query(
    `update sverka.balance_source
       set not_before = greatest(not_before, clock_timestamp() + $2 * interval '1 millisecond') where id = $1`,
    [sourceId, waitMs],
  );
}

/** An item of the journal that could not be read. */
export interface BadBalanceItem {
  readonly id: string | null;
  readonly raw: string;
  readonly reason: string;
}

/** Keeps them as they came, each once, so that the position may pass them. Answers how many are new. */
export async function quarantineBalanceItems(
  tx: Tx,
  of: { readonly sourceId: number; readonly sinceCursor: string; readonly limit: number; readonly baseNumber: number },
  items: readonly BadBalanceItem[],
): Promise<number> {
  if (items.length === 0) return 0;
  const rows = await tx.query(
    `insert into sverka.balance_bad_item (source_id, since_cursor, page_limit, base_number, item_id, raw, reason)
     select $1, $2, $3, $4, i.id, i.raw, i.reason from unnest($5::text[], $6::text[], $7::text[]) i(id, raw, reason)
     on conflict do nothing returning 1`,
    [
      ...[of.sourceId, of.sinceCursor, of.limit, of.baseNumber],
      items.map(({ id }) => id),
      items.map(({ raw }) => raw),
      items.map(({ reason }) => reason),
    ],
  );
  return rows.length;
}

/** One that was kept, with the page that it stood in and the base of then. */
export interface KeptBadItem {
  readonly id: string;
  readonly itemId: string | null;
  readonly raw: string;
  readonly sinceCursor: string;
  readonly limit: number;
  readonly baseNumber: number;
}

/** The oldest that are not applied yet. */
export async function selectBadItems(db: Tx, sourceId: number, most: number): Promise<KeptBadItem[]> {
  return db.query<KeptBadItem>(
    `select id::text, item_id as "itemId", raw, since_cursor as "sinceCursor", page_limit as "limit",
       base_number as "baseNumber"
     from sverka.balance_bad_item where source_id = $1 and applied_at is null order by id limit $2`,
    [sourceId, most],
  );
}

/** It was read after all; answers how many of the source are left. */
export async function noteBadItemApplied(
  tx: Tx,
  of: { readonly sourceId: number; readonly id: string },
): Promise<number> {
  await tx.query('update sverka.balance_bad_item set applied_at = clock_timestamp() where id = $1', [of.id]);
  const [row] = await tx.query<{ left: number }>(
    'select count(*)::int as left from sverka.balance_bad_item where source_id = $1 and applied_at is null',
    [of.sourceId],
  );
  return row?.left ?? 0;
}
