import type pg from 'pg';
import { openAccounts } from '../../src/db/accounts.js';
import { newId } from '../../src/db/new-id.js';
import { inTransaction } from '../../src/db/transaction.js';
import {
  type AccountKind,
  type AccountName,
  draw,
  guard,
  type Line,
  leg,
  type MovementInstruction,
} from '../../src/domain/journal.js';
import { keyOf } from './journal-fixtures.js';
import type { ModelAccount } from './journal-model.js';

/** Accounts of one owner and asset by kind. */
type Group = Readonly<Partial<Record<AccountKind, bigint>>>;

/** Twenty accounts that random histories move money between, and what bounds them. */
export interface World {
  readonly accounts: readonly ModelAccount[];
  readonly groups: readonly Group[];
}

/** Two assets, two books, two merchants and a customer: everything that a movement must not mix. */
export async function openWorld(pool: pg.Pool): Promise<World> {
  const [a, b] = [newId('merchant'), newId('merchant')];
  const own = { merchantId: a, customerId: null, book: 'live' as const };
  const names: AccountName[] = [
    ...groupOf({ ...own, asset: 'EUR' }, ['wallet', 'receivable', 'card', 'hold', 'fees', 'clearing:custody']),
    ...groupOf({ ...own, asset: 'ETH' }, ['wallet', 'receivable', 'card', 'clearing:custody']),
    ...groupOf({ ...own, asset: 'EUR', customerId: newId('customer') }, ['wallet', 'receivable', 'opening']),
    ...groupOf({ ...own, asset: 'EUR', book: 'test' }, ['wallet', 'receivable', 'card', 'clearing:custody']),
    ...groupOf({ ...own, asset: 'EUR', merchantId: b }, ['wallet', 'receivable', 'clearing:custody']),
  ];
  const ids = await inTransaction(pool, (tx) => openAccounts(tx, names));
  const { rows } = await pool.query<ModelAccount & { floor: string | null; cap: string | null }>(
    `select id, book, merchant_id as merchant, asset, floor, cap from ledger.account where id = any ($1)`,
    [ids],
  );
  const number = (text: string | null) => (text === null ? null : BigInt(text));
  // In the order of their names and not of their ids, which differ from run to run: a seed is one history.
  const accounts = ids.flatMap((id) =>
    rows.filter((row) => row.id === id).map((row) => ({ ...row, floor: number(row.floor), cap: number(row.cap) })),
  );
  const groups = new Map<string, Record<string, bigint>>();
  for (const [i, name] of names.entries()) {
    const owner = [name.book, name.merchantId, name.customerId, name.asset].join(' ');
    groups.set(owner, { ...groups.get(owner), [name.kind]: ids[i] as bigint });
  }
  return { accounts, groups: [...groups.values()] };
}

/** A repeatable source of chance: whole numbers from 0 to below `n`. */
export type Chance = (n: number) => number;

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
}

/** One random movement: mostly sound, sometimes nonsense, sometimes an earlier key with the same or another body. */
export function randomMovement(world: World, chance: Chance, earlier: MovementInstruction[]): MovementInstruction {
  // Every other time one of the last few, which may stand in the same batch.
  const reach = chance(2) === 0 ? Math.min(6, earlier.length) : earlier.length;
  const before = earlier[earlier.length - 1 - chance(Math.max(1, reach))];
  const turn = chance(100);
  if (before && turn < 8) return before;
  const made = {
    kind: 'transfer' as const,
    subject: { type: 'deposit', id: 'dep_x' },
    lines: randomLines(world, chance),
  };
  if (before && turn < 12) return { ...made, key: before.key };
  const movement = { ...made, key: keyOf() };
  earlier.push(movement);
  return movement;
}

function randomLines(world: World, chance: Chance): Line[] {
  const lines = soundLines(pick(world.groups, chance), chance);
  const among = pick([world.accounts.map((account) => account.id), Object.values(pick(world.groups, chance))], chance);
  const at = chance(lines.length);
  switch (chance(24)) {
    case 0: // one line on an account that has nothing to do with it
      return lines.map((line, i) => (i === at ? { ...line, account: pick(among, chance) } : line));
    case 1: // one amount that is wrong
      return lines.map((line, i) => (i === at && line.role === 'leg' ? leg(line.account, line.amount + 1n) : line));
    case 2: // one line that is missing
      return lines.filter((_, i) => i !== at);
    case 3:
      return nonsense(among, chance);
    default:
      return lines;
  }
}

function soundLines(group: Group, chance: Chance): Line[] {
  const wallet = group.wallet as bigint;
  const receivable = group.receivable as bigint;
  const counterpart = (group['clearing:custody'] ?? group.opening) as bigint;
  const amount = randomAmount(chance);
  switch (chance(9)) {
    case 0:
    case 1:
      return [leg(counterpart, -amount), leg(pick([wallet, group.card ?? wallet], chance), amount)];
    case 2:
      return [leg(wallet, -amount), leg(counterpart, amount), guard(receivable)];
    case 3:
      return [leg(wallet, -amount), draw(receivable), leg(counterpart, amount)];
    case 4:
    case 5: {
      if (group.card === undefined) return [leg(wallet, -amount), leg(counterpart, amount)];
      const forced = chance(2) === 0 ? [draw(receivable)] : [];
      return [leg(group.card, -amount), draw(wallet), ...forced, leg(counterpart, amount)];
    }
    case 6:
    case 7:
      return [
        { role: 'collect', account: wallet },
        { role: 'collect', account: receivable },
      ];
    default:
      return threeWays(Object.values(group), amount, chance);
  }
}

/** From one account of the group to two others; an amount of 1 to one other. */
function threeWays(accounts: bigint[], amount: bigint, chance: Chance): Line[] {
  const first = chance(accounts.length);
  const [from, to, third] = [0, 1, 2].map((step) => accounts[(first + step) % accounts.length] as bigint);
  if (from === undefined || to === undefined || third === undefined) throw new Error('A group has three accounts.');
  if (amount === 1n) return [leg(from, -amount), leg(to, amount)];
  return [leg(from, -amount), leg(to, amount / 2n), leg(third, amount - amount / 2n)];
}

function nonsense(among: readonly bigint[], chance: Chance): Line[] {
  return Array.from({ length: chance(5) }, (): Line => {
    const account = chance(12) === 0 ? 999_999n : pick(among, chance);
    const role = pick(['leg', 'leg', 'draw', 'guard', 'collect'] as const, chance);
    return role === 'leg' ? leg(account, BigInt(chance(5) - 2)) : { role, account };
  });
}

function randomAmount(chance: Chance): bigint {
  const sizes = [1n, 10n, 100n, 2n ** 62n, 9n * 10n ** 37n];
  const size = sizes[[0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4][chance(20)] ?? 0] ?? 1n;
  return size > 100n ? size : BigInt(chance(Number(size))) + 1n;
}

function pick<T>(from: readonly T[], chance: Chance): T {
  return from[chance(from.length)] as T;
}

function groupOf(owner: Omit<AccountName, 'kind'>, kinds: readonly AccountKind[]): AccountName[] {
  return kinds.map((kind) => ({ ...owner, kind, ref: kind === 'card' || kind === 'hold' ? `${kind}_1` : '' }));
}
