import { isDecimalString } from '../../domain/money.js';
import type { SimulatedAccount } from '../simulator-kit/account.js';
import { type ChangeFeed, createChangeFeed } from '../simulator-kit/changes.js';
import { inventId } from '../simulator-kit/invent-id.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { badRequest, membersOf, objectsOf } from '../simulator-kit/requests.js';
import { timedSigner } from '../simulator-kit/signing.js';
import { type CardRecord, loadOf } from './simulator-card.js';
import type { Step } from './simulator-steps.js';

type Members = Readonly<Record<string, unknown>>;

/** What a card can be spent by: kinds of `POST /_sim/cards/{id}/spend`, each an event type. */
export const SPEND_KINDS = [
  'authorization.approved',
  'authorization.declined',
  'authorization.incremented',
  'authorization.partially_reversed',
  'authorization.reversed',
  'authorization.expired',
  'clearing.posted',
  'clearing.forced',
  'refund.posted',
  'refund.reversed',
  'dispute.credited',
  'dispute.reversed',
  'fee.charged',
] as const;

/** What of a card's money moves with it: taken from the card, given back to it, or neither. */
const TAKES: readonly string[] = [
  'clearing.posted',
  'clearing.forced',
  'fee.charged',
  'refund.reversed',
  'dispute.reversed',
];
const GIVES: readonly string[] = ['refund.posted', 'dispute.credited'];

const SPEND_MEMBERS = ['kind', 'amount', 'asset', 'merchant', 'authorization_id', 'local', 'final', 'decided_by'];
const MERCHANT = { name: 'Simulated merchant', mcc: '5999', country: 'DE' };

interface EventIds {
  readonly event_id: string;
  readonly type: string;
  readonly card_id: string;
  readonly amount: unknown;
  readonly asset: unknown;
}
type EventRecord = EventIds & Members;

export interface IssuerEvents {
  /** Keeps the event for ever and sends its webhook. `references` are what a fault may match it by. */
  emit(
    account: SimulatedAccount,
    event: Members & { readonly type: string },
    references: readonly string[],
  ): EventRecord;
  page(
    account: SimulatedAccount,
    page: { after: string | undefined; limit: number },
  ): { items: Members[]; next_cursor: string; has_more: boolean };
  /** What was spent from a card, less what came back: amounts as stated. */
  spentOn(cardId: string): Step[];
  snapshot(): { readonly events: Members[]; readonly positions: Members };
  restore(snapshot: Members): void;
  reset(): void;
}

/** The issuer's feed of events, and their webhooks. */
export function createIssuerEvents(accounts: readonly SimulatedAccount[], kit: SimulatorKit): IssuerEvents {
  const events = new Map<string, { readonly account: SimulatedAccount; readonly record: EventRecord }>();
  const feeds = new Map<SimulatedAccount, ChangeFeed>(accounts.map((account) => [account, createChangeFeed()]));
  return {
    emit(account, event, references) {
      const record = newEvent(event);
      events.set(record.event_id, { account, record });
      feeds.get(account)?.touch(record.event_id);
      kit.webhooks.send({
        eventId: record.event_id,
        type: record.type,
        references,
        body: { ...record },
        target: { url: account.hookUrl, sign: timedSigner('x-issuer-signature', account.webhookSecret) },
      });
      return record;
    },
    page(account, page) {
      const { ids, nextCursor, hasMore } = (feeds.get(account) ?? createChangeFeed()).page(page);
      const items = ids.flatMap((id) => events.get(id)?.record ?? []);
      return { items, next_cursor: nextCursor, has_more: hasMore };
    },
    spentOn: (cardId) =>
      [...events.values()]
        .filter(({ record }) => record.card_id === cardId)
        .flatMap(({ record: { type, amount } }) => {
          if (TAKES.includes(type)) return [{ sign: -1n, amount }];
          return GIVES.includes(type) ? [{ sign: 1n, amount }] : [];
        }),
    snapshot: () => ({
      events: [...events.values()].map(({ account, record }) => ({ ...record, book: account.book })),
      positions: Object.fromEntries([...feeds].map(([account, feed]) => [account.book, feed.positions()])),
    }),
    restore(snapshot) {
      const positions = membersOf(snapshot.positions ?? {}, 'positions');
      for (const [account, feed] of feeds) {
        for (const { book, ...members } of objectsOf(snapshot.events)) {
          if (book !== account.book) continue;
          const record = restoredEvent(members);
          events.set(record.event_id, { account, record });
        }
        feed.restore(positions[account.book]);
      }
    },
    reset() {
      events.clear();
      for (const feed of feeds.values()) feed.clear();
    },
  };
}

/** A step of spending as told; what is not told is chosen. */
export function readSpend(body: Members, card: CardRecord): Members & { readonly type: string } {
  const other = Object.keys(body).find((member) => !SPEND_MEMBERS.includes(member));
  if (other) throw badRequest(`a spend has no ${other}; known are ${SPEND_MEMBERS.join(', ')}`);
  const kind = SPEND_KINDS.find((known) => known === body.kind);
  if (!kind) throw badRequest(`kind must be one of ${SPEND_KINDS.join(', ')}`);
  if (!isDecimalString(body.amount)) throw badRequest('amount must be a decimal string');
  const { amount } = body;
  const asset = body.asset ?? loadOf(card).asset ?? null;
  const isAuthorization = kind.startsWith('authorization.');
  const authorizationId = body.authorization_id ?? (isAuthorization ? inventId('iau') : null);
  return {
    type: kind,
    card_id: card.id,
    authorization_id: authorizationId,
    amount,
    asset,
    merchant: body.merchant === null ? null : { ...MERCHANT, ...membersOf(body.merchant ?? {}, 'merchant') },
    local: body.local === undefined ? { amount, currency: asset } : body.local,
    ...(kind === 'clearing.posted' ? { final: body.final ?? true } : {}),
    ...(isAuthorization && body.decided_by !== undefined ? { decided_by: body.decided_by } : {}),
  };
}

function newEvent({ type, ...members }: Members & { readonly type: string }): EventRecord {
  return {
    event_id: inventId('iev'),
    type,
    card_id: String(members.card_id),
    authorization_id: null,
    reference: null,
    amount: null,
    asset: null,
    merchant: null,
    local: null,
    occurred_at: new Date().toISOString(),
    ...members,
  };
}

function restoredEvent(members: Members): EventRecord {
  const { amount = null, asset = null } = members;
  const ids = { event_id: String(members.event_id), type: String(members.type), card_id: String(members.card_id) };
  return { ...members, ...ids, amount, asset };
}
