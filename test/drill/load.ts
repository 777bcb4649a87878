import { setTimeout as pause } from 'node:timers/promises';
import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { startIssuance } from '../../src/client/issuances.js';
import type { DepositAddressInput, IssuanceInput } from '../../src/contracts/messages.js';
import { CANARY_CARD } from '../support/deposit-world.js';
import { type Buyer, issuanceInput, makeBuyer } from '../support/issuance-rows.js';
import { storeNotification } from '../support/worker-inbox.js';
import {
  addressInput,
  arrive,
  depositInput,
  type KnownAddress,
  makeKnownAddress,
  makeMerchantRow,
} from '../support/worker-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { type Wish, wishOfCard } from './card-wishes.js';
import type { Random } from './random.js';

/** Work that comes in whatever is dead just now. */
export interface Load {
  /** What has been asked for so far, by what it is. */
  counts(): Readonly<Record<string, number>>;
  /** No more; resolves when the senders have got rid of everything they had. */
  stop(): Promise<void>;
  /** A merchant asks again, with the same key, for what he has not got. */
  askAgain(): Promise<void>;
}

const EVERY_MS = 80;
const OWNERS = 8;
const RETRY_MS = 200;

/**
 * Deposits by webhook, deposits whose webhook was lost, deposits that confirm first, new addresses, cards of a quick
 * and of a slow issuer whose webhooks were lost, and loads, freezes and closes of the cards that are there, in the
 * proportions of that random row. What cannot be delivered is sent again, as a custodian and a merchant do.
 */
export async function startLoad(world: WorkerWorld, random: Random): Promise<Load> {
  const owners = await Promise.all(Array.from({ length: OWNERS }, () => untilDone(() => makeKnownAddress(world))));
  const buyers = await Promise.all(Array.from({ length: OWNERS }, () => makeBuyer(world, { cents: 100_000_000n })));
  const wishes: Wish[] = [];
  const pending = new Set<Promise<void>>();
  const counts: Record<string, number> = {};
  let next = 0;
  const closing = new AbortController();
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const ask = async (wish: Wish) => {
    wishes.push(wish);
    count(wish.what);
    await wish.ask().catch(() => undefined);
  };
  const askAddress = (input: DepositAddressInput) =>
    ask({ what: 'address', ask: () => startDepositAddress(world.temporal, input) });
  const askCard = (input: IssuanceInput) => ask({ what: 'card', ask: () => startIssuance(world.temporal, input) });

  // One each, so that there is something to load from the start.
  for (const buyer of buyers) await askCard(issuanceInput(buyer, 'first card'));
  await untilDone(() => requireCard(world));

  async function one(): Promise<void> {
    const kind = random();
    next += 1;
    const key = `wish-${next}`;
    const to = owners[Math.floor(random() * OWNERS)];
    const amount = (1 + Math.floor(random() * 1_000_000)) / 1_000;
    const waitMs = random() * 2_000;
    if (to === undefined) return;
    if (kind < 0.1) {
      await askAddress(addressInput(await untilDone(() => makeMerchantRow(world)), 'k'));
    } else if (kind < 0.25) {
      const product = kind < 0.2 ? 'instant' : 'async';
      await askCard(issuanceInput(buyerOf(buyers, waitMs), key, { product }));
    } else if (kind < 0.4) {
      const wish = await untilDone(() => wishOfCard(world, random, key));
      if (wish !== null) await ask(wish);
    } else {
      count('deposit');
      await deposit(world, to, { kind, amount: String(amount), waitMs });
    }
  }
  const ticking = (async () => {
    while (!closing.signal.aborted) {
      const work = one().finally(() => pending.delete(work));
      pending.add(work);
      await pause(EVERY_MS);
    }
  })();
  return {
    counts: () => counts,
    async stop() {
      closing.abort();
      await ticking;
      await Promise.all(pending);
    },
    async askAgain() {
      for (const wish of wishes) await wish.ask().catch(() => undefined);
    },
  };
}

async function deposit(
  world: WorkerWorld,
  to: KnownAddress,
  { kind, amount, waitMs }: { kind: number; amount: string; waitMs: number },
): Promise<void> {
  const confirmsFirst = kind < 0.6;
  const unheard = kind > 0.8;
  const status = confirmsFirst ? 'confirming' : 'completed';
  const ref = await arrive(world, to, { amount, status, replaced_by: CANARY_CARD });
  const notify = async () => {
    await untilDone(() => storeNotification(world, ref));
    await nudgeDeposit(world.temporal, depositInput(ref), { start: true }).catch(() => undefined);
  };
  if (!unheard) await notify();
  if (!confirmsFirst) return;
  await pause(waitMs);
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
  await notify();
}

/** Throws while there is none that a load could be put on. */
async function requireCard({ owner }: WorkerWorld): Promise<void> {
  const { rowCount } = await owner.query(`select from sverka.card where state = 'active' limit 1`);
  if (rowCount === 0) throw new Error('There is no card yet.');
}

function buyerOf(buyers: readonly Buyer[], any: number): Buyer {
  const buyer = buyers[Math.floor(any) % OWNERS];
  if (!buyer) throw new Error('There are no buyers.');
  return buyer;
}

/** Sent again until it is taken. */
async function untilDone<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch {
      await pause(RETRY_MS);
    }
  }
}
