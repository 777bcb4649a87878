import { leg, type MovementInstruction } from '../domain/journal.js';
import type { LineProblem, OpeningBalance } from '../domain/opening-balances.js';
import { openAccounts } from './accounts.js';
import { post } from './journal.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

const USED = 'the account is used already';

/** A file of opening balances, by its SHA-256. */
export interface LedgerImport {
  readonly state: 'requested' | 'posted' | 'refused';
  readonly lines: number;
  /** Why it was refused. */
  readonly problems: readonly LineProblem[];
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** `user:usr_…`, or `cli` without a login. */
  readonly actor: string;
}

export async function findLedgerImport(db: Tx, fileHash: Buffer): Promise<LedgerImport | null> {
  const rows = await db.query<LedgerImport>(
    `select state, jsonb_array_length(lines) as lines, problems, created_at as "createdAt", finished_at as "finishedAt",
         actor
       from sverka.ledger_import where file_hash = $1`,
    [fileHash],
  );
  return rows[0] ?? null;
}

/**
 * Leaves the lines for the worker to post, all or none (the console's role). A refused file is asked for again. Without
 * a person who signed in the actor is `cli`.
 */
export async function requestLedgerImport(
  db: Tx,
  file: { readonly hash: Buffer; readonly openings: readonly OpeningBalance[] },
  by: { readonly userId: string | null; readonly traceId: string },
): Promise<void> {
  const lines = file.openings.map((opening) => ({ ...opening, amount: opening.amount.toString() }));
  const actor = by.userId === null ? 'cli' : `user:${by.userId}`;
  const params = [file.hash, JSON.stringify(lines), actor, by.traceId];
  await db.query('select sverka.request_ledger_import($1, $2, $3, $4)', params);
}

/**
 * The lines that cannot be posted as the books stand: an owner whom nobody knows, or a wallet that has moved before.
 * Reads only; `postLedgerImport` looks again under the journal's locks.
 */
export async function refusedOpenings(db: Tx, openings: readonly OpeningBalance[]): Promise<LineProblem[]> {
  return db.query<LineProblem>(
    `select n.line, case when m.id is null then 'there is no such merchant' else $2 end as detail
       from jsonb_to_recordset($1) as n(line int, book text, "merchantId" text, "customerRef" text, asset text)
       left join sverka.merchant m on m.id = n."merchantId"
       left join sverka.customer c on c.book = n.book and c.merchant_id = n."merchantId" and c.ref = n."customerRef"
      where m.id is null or (n."customerRef" is null or c.id is not null) and exists (
        select from ledger.account a join ledger.entry e on e.account_id = a.id
          where a.book = n.book and a.merchant_id = n."merchantId" and a.customer_id is not distinct from c.id
            and a.asset = n.asset and a.kind in ('wallet', 'receivable', 'opening'))
      order by n.line`,
    [JSON.stringify(openings.map(({ amount: _, ...opening }) => opening)), USED],
  );
}

/** The oldest file that waits; locked, so that two sweeps never post the same. */
export async function lockRequestedImport(tx: Tx): Promise<RequestedImport | null> {
  const rows = await tx.query<RequestedImport>(
    'select file_hash as "fileHash", lines, trace_id as "traceId" from sverka.lock_requested_import()',
  );
  return rows[0] ?? null;
}

export interface RequestedImport {
  readonly fileHash: Buffer;
  /** Openings with the amount, in minor units, as text. */
  readonly lines: readonly (Omit<OpeningBalance, 'amount'> & { readonly amount: string })[];
  readonly traceId: string | null;
}

/** Some lines cannot be posted: the caller's transaction has to roll back, then `refuseLedgerImport`. */
export class ImportRefused extends Error {
  constructor(
    readonly fileHash: Buffer,
    readonly problems: readonly LineProblem[],
  ) {
    super(`A file of opening balances has ${problems.length} line(s) that cannot be posted.`);
    this.name = 'ImportRefused';
  }
}

/**
 * Posts all lines in one call, each from its owner's `opening` account to the wallet, and marks the file as posted.
 * Throws `ImportRefused` for a line whose account moved before: nobody owes there, so no collect stands behind a line.
 */
export async function postLedgerImport(tx: Tx, { fileHash, lines, traceId }: RequestedImport): Promise<void> {
  const openings = lines.map((line) => ({ ...line, amount: BigInt(line.amount) }));
  const refused = await refusedOpenings(tx, openings);
  if (refused.length > 0) throw new ImportRefused(fileHash, refused);
  const booked = await accountsOf(tx, openings);
  const subject = { type: 'ledger_import', id: fileHash.toString('hex') };
  const results = await post(
    tx,
    booked.map((each) => movementOf(each, subject)),
    { traceId },
  );
  const unposted = booked.flatMap(({ opening: { line } }, n) => {
    const { outcome, detail } = results[n] ?? { outcome: 'no answer', detail: null };
    if (outcome === 'posted') return [];
    const taken = outcome === 'duplicate' || outcome === 'conflict';
    return [{ line, detail: taken ? USED : `the journal would not post it (${detail ?? outcome})` }];
  });
  // Under the locks of `post`: what moved since we looked.
  const moved = await movedBefore(tx, booked);
  if (unposted.length + moved.length > 0) throw new ImportRefused(fileHash, [...unposted, ...moved]);
  await finish(tx, fileHash, { state: 'posted', problems: [] });
}

/** Notes why nothing of it was posted. */
export async function refuseLedgerImport(tx: Tx, fileHash: Buffer, problems: readonly LineProblem[]): Promise<void> {
  await finish(tx, fileHash, { state: 'refused', problems });
}

interface BookedOpening {
  readonly opening: OpeningBalance;
  readonly customerId: string | null;
  readonly wallet: bigint;
  readonly receivable: bigint;
  readonly opened: bigint;
}

const KINDS = ['wallet', 'receivable', 'opening'] as const;
/** `open_accounts` takes a thousand. */
const OPENED_AT_ONCE = 300;

async function accountsOf(tx: Tx, openings: readonly OpeningBalance[]): Promise<BookedOpening[]> {
  const customers = await ensureCustomers(tx, openings);
  const booked: BookedOpening[] = [];
  for (let from = 0; from < openings.length; from += OPENED_AT_ONCE) {
    const page = openings.slice(from, from + OPENED_AT_ONCE).map((opening) => {
      const customerId = customers.get(opening.line) ?? null;
      if (opening.customerRef !== null && customerId === null) throw new Error('A customer just made is not there.');
      return { opening, customerId };
    });
    const names = page.flatMap(({ opening: { book, merchantId, asset }, customerId }) =>
      KINDS.map((kind) => ({ book, merchantId, customerId, asset, kind })),
    );
    const ids = await openAccounts(tx, names);
    for (const [n, each] of page.entries()) {
      const [wallet, receivable, opened] = ids.slice(n * 3, n * 3 + 3);
      if (wallet === undefined || receivable === undefined || opened === undefined) {
        throw new Error('An opening balance has no accounts.');
      }
      booked.push({ ...each, wallet, receivable, opened });
    }
  }
  return booked;
}

/** The customers that the lines name, made where they are missing; ids by line. */
async function ensureCustomers(tx: Tx, openings: readonly OpeningBalance[]): Promise<Map<number, string>> {
  const named = openings.filter(({ customerRef }) => customerRef !== null);
  const params = [named.map(({ book }) => book), named.map((each) => each.merchantId), named.map((e) => e.customerRef)];
  await tx.query(
    `insert into sverka.customer (id, book, merchant_id, ref)
     select n.id, n.book, n.merchant_id, n.ref
       from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as n(id, book, merchant_id, ref)
      order by n.book, n.merchant_id, n.ref
     on conflict (book, merchant_id, ref) do nothing`,
    [named.map(() => newId('customer')), ...params],
  );
  const rows = await tx.query<{ line: number; id: string }>(
    `select n.line, c.id from unnest($1::int[], $2::text[], $3::text[], $4::text[]) as n(line, book, merchant_id, ref)
       join sverka.customer c on c.book = n.book and c.merchant_id = n.merchant_id and c.ref = n.ref`,
    [named.map(({ line }) => line), ...params],
  );
  return new Map(rows.map(({ line, id }) => [line, id]));
}

function movementOf(
  { opening, customerId, wallet, opened }: BookedOpening,
  subject: { type: string; id: string },
): MovementInstruction {
  const { book, merchantId, asset, amount, reference } = opening;
  // Once for an account, whatever file it stands in.
  const ref = [customerId ?? merchantId, asset];
  const instrument = { book, provider: 'sverka', account: merchantId, kind: 'opening', ref };
  const lines = [leg(opened, -amount), leg(wallet, amount)];
  const movement = { kind: 'opening' as const, key: { instrument, generation: 0, operation: 'open' }, subject, lines };
  return reference === null ? movement : { ...movement, reference };
}

async function movedBefore(tx: Tx, booked: readonly BookedOpening[]): Promise<LineProblem[]> {
  return tx.query<LineProblem>(
    `select n.line, $4::text as detail
       from unnest($1::int[], $2::bigint[], $3::bigint[]) as n(line, wallet, receivable)
       join ledger.account_balance w on w.account_id = n.wallet
       join ledger.account_balance r on r.account_id = n.receivable
      where w.seq > 1 or r.seq > 0 order by n.line`,
    [
      booked.map(({ opening }) => opening.line),
      booked.map(({ wallet }) => wallet),
      booked.map(({ receivable }) => receivable),
      USED,
    ],
  );
}

async function finish(
  tx: Tx,
  fileHash: Buffer,
  end: { state: 'posted' | 'refused'; problems: readonly LineProblem[] },
): Promise<void> {
  const params = [fileHash, end.state, JSON.stringify(end.problems)];
  await tx.query('select sverka.finish_ledger_import($1, $2, $3)', params);
}
