import {
  cardLoadWorkflowId,
  depositAddressWorkflowId,
  depositWorkflowId,
  ID_PREFIXES,
  isId,
  issuanceWorkflowId,
} from '../contracts/ids.js';
import type { CardChangeName } from './card-changes.js';
import { operationKeysOf, walletId } from './new-id.js';
import { scopeOfBalanceCheck, scopeOfBalanceSource } from './trace-balances.js';
import { scopeOfCards, scopeOfChange, scopeOfIssued, scopeOfLoad, type WhichCards } from './trace-cards.js';
import { scopeOfWithdrawals, type WhichWithdrawals } from './trace-withdrawals.js';
import type { Tx } from './transaction.js';

/** Whose rows belong to the story of one id. */
export interface TraceScope {
  /** Our own ids: rows of them, and rows about them. */
  readonly subjects: readonly string[];
  readonly traceIds: readonly string[];
  /** Everything of this merchant. */
  readonly merchantId: string | null;
  readonly customerId: string | null;
  /** The book of a wallet; null is both. */
  readonly book: string | null;
  /** A provider's own ids, which notifications name. */
  readonly refs: readonly ProviderRef[];
  /** Temporal's ids of the workflows that did it. */
  readonly workflowIds: readonly string[];
  /** Changes of cards, which have no id of their own. */
  readonly changes: readonly CardChangeName[];
}

export interface ProviderRef {
  readonly provider: string;
  readonly account: string;
  readonly ref: string;
}

/** How many deposits of one owner or address are followed with their own notifications and workflows. */
const DEPOSITS_MAX = 100;

const NOTHING: TraceScope = {
  subjects: [],
  traceIds: [],
  merchantId: null,
  customerId: null,
  book: null,
  refs: [],
  workflowIds: [],
  changes: [],
};

/**
 * What an id stands for: any public id, a trace id, a workflow's id, a transaction hash, an address that was paid to,
 * or a provider's id of a deposit, a card or a payout. An id that nothing is known of gives a scope in which nothing is
 * found.
 */
export async function traceScope(tx: Tx, id: string): Promise<TraceScope> {
  if (/^[0-9a-f]{32}$/.test(id)) {
    // Bitcoin's and Ethereum's hashes are longer; a provider's own id may still look like a trace.
    const byRef = await scopeOfReference(tx, id);
    return { ...byRef, traceIds: [id] };
  }
  if (isPublic(id)) return scopeOfId(tx, id);
  // Terms have no row of their own that is named: their history is.
  if (/^withdrawal_terms:(live|test)$/.test(id)) return { ...NOTHING, subjects: [id] };
  if (/^(live|test):[a-z]+:./.test(id)) return { ...NOTHING, ...scopeOfBalanceSource(id) };
  const workflow = await scopeOfWorkflow(tx, id);
  return workflow ?? scopeOfReference(tx, id);
}

/** One of our ids. What only points at something else (a movement, an event, an alert, …) brings in that, too. */
async function scopeOfId(tx: Tx, id: string): Promise<TraceScope> {
  if (isId('deposit', id)) return scopeOfDeposits(tx, { where: 'd.id = $1', param: id }, [id]);
  if (isId('depositAddress', id)) {
    const scope = await scopeOfDeposits(tx, { where: 'd.deposit_address_id = $1', param: id }, [id]);
    return withRequests(tx, scope, [id]);
  }
  if (isId('card', id)) return cardScope(tx, { card: id }, [id]);
  if (isId('issuance', id)) return cardScope(tx, { named: id }, [id]);
  if (isId('cardholder', id)) return cardScope(tx, { cardholder: id }, [id]);
  if (isId('load', id)) return { ...NOTHING, ...(await scopeOfLoad(tx, id)) };
  if (isId('withdrawal', id)) return withdrawalScope(tx, { id }, [id]);
  if (isId('withdrawalDestination', id)) return withdrawalScope(tx, { destination: id }, [id]);
  if (isId('withdrawalProof', id)) return withdrawalScope(tx, { proof: id }, [id]);
  if (isId('request', id)) return scopeOfRequest(tx, id);
  if (isId('merchant', id)) return { ...NOTHING, subjects: [id], merchantId: id };
  if (isId('customer', id)) {
    const rows = await tx.query<{ id: string }>(
      `select id from sverka.deposit_address where customer_id = $1 order by id desc limit ${DEPOSITS_MAX}`,
      [id],
    );
    const subjects = [id, ...rows.map((row) => row.id)];
    return { ...(await scopeOfDeposits(tx, { where: 'd.customer_id = $1', param: id }, subjects)), customerId: id };
  }
  if (isId('wallet', id)) return scopeOfWallet(tx, id);
  if (isId('inbox', id) || isId('deadLetter', id)) return scopeOfInbox(tx, id);
  if (isId('balanceCheck', id)) return { ...NOTHING, ...(await scopeOfBalanceCheck(tx, id)) };
  const about = await subjectOf(tx, id);
  const subjects = about === null ? [id] : [id, about.id];
  const whole = about !== null && about.id !== id && !isId('merchant', about.id);
  if (!whole) return { ...NOTHING, subjects, traceIds: about?.traceIds ?? [] };
  const scope = await traceScope(tx, about.id);
  return { ...scope, subjects: [...new Set([...subjects, ...scope.subjects])] };
}

/** What a movement, an event, an alert or a decision is about; the alert's own trace where it is about nothing. */
async function subjectOf(tx: Tx, id: string): Promise<{ id: string; traceIds: string[] } | null> {
  const table = { [ID_PREFIXES.event]: 'event', [ID_PREFIXES.alert]: 'alert', [ID_PREFIXES.decision]: 'decision' }[
    id.slice(0, id.indexOf('_'))
  ];
  if (isId('movement', id)) {
    const [row] = await tx.query<{ id: string }>(
      'select subject_id as id from ledger.movement where key between $1 and $2',
      operationKeysOf(id),
    );
    return row ? { id: row.id, traceIds: [] } : null;
  }
  if (table === undefined) return null;
  const [row] = await tx.query<{ type: string | null; id: string | null; traceId: string | null }>(
    `select subject_type as type, subject_id as id, trace_id as "traceId" from sverka.${table} where id = $1`,
    [id],
  );
  // An alert about an account, a provider or a check: what they are called is no id of a deposit.
  if (row?.type && UNTRACED.has(row.type)) return { id, traceIds: [] };
  return row ? { id: row.id ?? id, traceIds: row.id === null && row.traceId !== null ? [row.traceId] : [] } : null;
}

const UNTRACED: ReadonlySet<string> = new Set(['account', 'provider', 'check']);

/** Deposits that a condition names, with what leads to each: its address, the provider's id, the workflow. */
async function scopeOfDeposits(
  tx: Tx,
  of: { readonly where: string; readonly param: string },
  subjects: readonly string[],
): Promise<TraceScope> {
  const rows = await tx.query<ProviderRef & { id: string; addressId: string; book: string }>(
    `select d.id, d.deposit_address_id as "addressId", d.book, d.provider, d.provider_account as account,
       d.provider_ref as ref from sverka.deposit d where ${of.where} order by d.id desc limit ${DEPOSITS_MAX}`,
    [of.param],
  );
  const ids = new Set([...subjects, ...rows.flatMap((row) => [row.id, row.addressId])]);
  const refs = rows.map(({ provider, account, ref }) => ({ provider, account, ref }));
  return { ...NOTHING, subjects: [...ids], refs, workflowIds: rows.map(depositWorkflowId) };
}

async function cardScope(tx: Tx, which: WhichCards, subjects: readonly string[]): Promise<TraceScope> {
  const found = await scopeOfCards(tx, which);
  return { ...NOTHING, ...found, subjects: [...new Set([...subjects, ...found.subjects])] };
}

async function withdrawalScope(tx: Tx, which: WhichWithdrawals, subjects: readonly string[]): Promise<TraceScope> {
  const found = await scopeOfWithdrawals(tx, which);
  return { ...NOTHING, ...found, subjects: [...new Set([...subjects, ...found.subjects])] };
}

/** A request, and what it led to, but not what came of that later. */
async function scopeOfRequest(tx: Tx, id: string): Promise<TraceScope> {
  const [row] = await tx.query<{ resourceId: string | null; made: boolean; traceId: string | null }>(
    'select resource_id as "resourceId", made, trace_id as "traceId" from sverka.request where id = $1',
    [id],
  );
  const led = row?.resourceId ? await scopeOfLed(tx, { requestId: id, resourceId: row.resourceId }) : NOTHING;
  const traceIds = [...new Set([...(row?.traceId ? [row.traceId] : []), ...led.traceIds])];
  const subjects = [...new Set([id, ...led.subjects])];
  return withRequests(tx, { ...led, subjects, traceIds }, subjects);
}

/** What a request led to. A change of a card is told without the rest of that card's life. */
async function scopeOfLed(tx: Tx, of: { requestId: string; resourceId: string }): Promise<TraceScope> {
  const { requestId, resourceId } = of;
  if (isId('load', resourceId)) return { ...NOTHING, ...(await scopeOfLoad(tx, resourceId)) };
  if (!isId('card', resourceId)) return { ...NOTHING, subjects: [resourceId] };
  const change = await scopeOfChange(tx, { requestId });
  return change ? { ...NOTHING, ...change } : issuedScope(tx, resourceId);
}

async function issuedScope(tx: Tx, cardId: string): Promise<TraceScope> {
  const found = await scopeOfIssued(tx, { card: cardId });
  return { ...NOTHING, ...found, subjects: [...new Set([cardId, ...found.subjects])] };
}

/** Adds the workflows that made these addresses, cards or loads: their ids are those of the requests. */
async function withRequests(tx: Tx, scope: TraceScope, subjects: readonly string[]): Promise<TraceScope> {
  const rows = await tx.query<{ path: string; requestId: string; book: string; merchantId: string }>(
    `select path, id as "requestId", book, merchant_id as "merchantId" from sverka.request
      where (resource_id = any ($1) and made or id = any ($1)) and method = 'POST'
        and (path in ('/v1/deposit-addresses', '/v1/cards') or path ~ '^/v1/cards/[^/]+/loads$')`,
    [subjects],
  );
  return { ...scope, workflowIds: [...new Set([...scope.workflowIds, ...rows.map(workflowOfRequest)])] };
}

function workflowOfRequest(row: { path: string; requestId: string; book: string; merchantId: string }): string {
  if (row.path === '/v1/deposit-addresses') return depositAddressWorkflowId(row);
  return row.path === '/v1/cards' ? issuanceWorkflowId({ ...row, generation: 0 }) : cardLoadWorkflowId(row);
}

/** A wallet has no row: its id is derived from book and owner, so the owners are tried. */
async function scopeOfWallet(tx: Tx, id: string): Promise<TraceScope> {
  const owners = await tx.query<{ id: string; book: string }>(
    `select m.id, b.book from sverka.merchant m cross join (values ('live'), ('test')) b(book)
     union all select c.id, c.book from sverka.customer c`,
  );
  const owner = owners.find((each) => walletId(each.book, each.id) === id);
  if (!owner) return NOTHING;
  return { ...(await scopeOfId(tx, owner.id)), book: owner.book };
}

async function scopeOfInbox(tx: Tx, id: string): Promise<TraceScope> {
  const [row] = await tx.query<ProviderRef & { id: string; book: string; ref: string | null }>(
    `select i.id, i.book, i.provider, i.endpoint as account, i.subject_ref as ref from sverka.inbox i
      where i.id = coalesce((select inbox_id from sverka.dead_letter where id = $1), $1)`,
    [id],
  );
  if (!row) return NOTHING;
  const scope = row.ref === null ? NOTHING : await scopeOfReference(tx, row.ref);
  return { ...scope, subjects: [...new Set([id, row.id, ...scope.subjects])] };
}

async function scopeOfWorkflow(tx: Tx, id: string): Promise<TraceScope | null> {
  const [kind, book, first, ...rest] = id.split(':');
  const last = rest.join(':');
  if (kind === 'withdrawal' && first !== undefined) return withdrawalScope(tx, { id: first }, []);
  if (first === undefined || last === '') return null;
  if (kind === 'deposit' && book !== undefined) {
    const scope = await scopeOfReference(tx, last);
    return { ...scope, workflowIds: [...new Set([id, ...scope.workflowIds])], book };
  }
  if (kind === 'issuance') {
    const scope = await cardScope(tx, { named: id }, []);
    return { ...scope, workflowIds: [...new Set([id, ...scope.workflowIds])] };
  }
  if (kind === 'deposit-address' || kind === 'card-load') {
    const scope = await scopeOfRequest(tx, `${ID_PREFIXES.request}_${last}`);
    return { ...scope, workflowIds: [id] };
  }
  if (kind === 'card-change' && /^[1-9]\d{0,8}$/.test(last)) {
    const change = await scopeOfChange(tx, { cardId: first, number: Number(last) });
    return change && { ...NOTHING, ...change };
  }
  return null;
}

/**
 * A provider's id of a deposit, a card or a payout, a transaction's hash, an address that was paid to. Notifications
 * may name it before we know it.
 */
async function scopeOfReference(tx: Tx, text: string): Promise<TraceScope> {
  const scope = await scopeOfDeposits(
    tx,
    { where: '(d.provider_ref = $1 or d.tx_hash = $1 or d.tx_hash = lower($1))', param: text },
    [],
  );
  const named = await tx.query<ProviderRef>(
    `select distinct provider, endpoint as account, subject_ref as ref from sverka.inbox where subject_ref = $1`,
    [text],
  );
  const cards = await scopeOfCards(tx, { named: text });
  const withdrawals = await scopeOfWithdrawals(tx, { named: text });
  return {
    ...scope,
    subjects: [...scope.subjects, ...cards.subjects, ...withdrawals.subjects],
    refs: [...scope.refs, ...cards.refs, ...withdrawals.refs, ...named],
    workflowIds: [...scope.workflowIds, ...cards.workflowIds, ...withdrawals.workflowIds, text],
    changes: cards.changes,
  };
}

function isPublic(id: string): boolean {
  return Object.keys(ID_PREFIXES).some((kind) => isId(kind as keyof typeof ID_PREFIXES, id));
}
