import { badRequest } from '../simulator-kit/requests.js';
import { unitsOf } from './simulator-units.js';

type Members = Readonly<Record<string, unknown>>;

/** Money to be moved: `count` times, from and to the addresses in turn. */
export interface Move {
  /** Null: it comes in from outside. */
  readonly from: readonly string[] | null;
  /** Null: it leaves. */
  readonly to: readonly string[] | null;
  readonly currency: string;
  /** In units. */
  readonly amount: bigint;
  /** Null where one was asked for, without saying so. */
  readonly count: number | null;
  /** It is in flight until it is settled. */
  readonly held: boolean;
  readonly webhooks: boolean;
}

const MEMBERS = ['book', 'from', 'to', 'currency', 'amount', 'count', 'held', 'webhooks'];
const COUNT_MAX = 1_000_000;
/** Webhooks are kept to be sent again: more at once would fill the memory. */
const WEBHOOKS_MAX = 10_000;

/** The body of `POST /_sim/transactions`. */
export function readMove(body: Members): Move {
  const other = Object.keys(body).find((member) => !MEMBERS.includes(member));
  if (other) throw badRequest(`a transaction has no ${other}; known are ${MEMBERS.join(', ')}`);
  const { currency, count = null, held = false, webhooks = true } = body;
  const [from, to] = [readAddresses(body.from, 'from'), readAddresses(body.to, 'to')];
  if (from === null && to === null) throw badRequest('from and to cannot both be outside');
  if (typeof currency !== 'string' || currency === '') throw badRequest('currency must be text');
  const amount = unitsOf(body.amount, 'amount');
  if (amount === 0n) throw badRequest('amount must be more than zero');
  if (typeof held !== 'boolean' || typeof webhooks !== 'boolean')
    throw badRequest('held and webhooks are true or false');
  if (held && from === null) throw badRequest('only what leaves an address can be held');
  const times = count ?? 1;
  if (typeof times !== 'number' || !Number.isInteger(times) || times < 1 || times > COUNT_MAX) {
    throw badRequest(`count must be from 1 to ${COUNT_MAX}`);
  }
  if (webhooks && times > WEBHOOKS_MAX) {
    throw badRequest(`more than ${WEBHOOKS_MAX} at once are made with "webhooks": false`);
  }
  return { from, to, currency, amount, count: count === null ? null : times, held, webhooks };
}

/** What each address has to give for a move, in units. */
export function needsOf({ from, amount, count }: Move): ReadonlyMap<string, bigint> {
  const needs = new Map<string, bigint>();
  const times = count ?? 1;
  for (const [index, address] of (from ?? []).entries()) {
    const turns = Math.ceil((times - index) / (from?.length ?? 1));
    if (turns > 0) needs.set(address, (needs.get(address) ?? 0n) + BigInt(turns) * amount);
  }
  return needs;
}

function readAddresses(value: unknown, member: string): readonly string[] | null {
  if (value === null || value === undefined) return null;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const addresses = list.filter((each): each is string => typeof each === 'string' && each !== '');
  if (addresses.length === 0 || addresses.length < list.length) {
    throw badRequest(`${member} must be an address, a list of addresses, or null for outside`);
  }
  return addresses;
}
