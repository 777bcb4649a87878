import { type BalanceStep, takeBalanceStep } from '../../src/activities/balance-checks.js';
import type { PageTurn } from '../../src/activities/balance-pages.js';
import { createRandom } from '../drill/random.js';
import { type BalanceWorld, openBalanceWorld, SOURCE } from '../support/balance-world.js';
import { withSteps } from '../support/crash-steps.js';
import { storeWebhooks, type ToldWebhook } from '../support/pert-webhooks.js';
import { eventually } from '../support/simulated-custody.js';

/** Each in a world of its own: a simulator keeps all that it has said, and grows slow with it. */
const RUNS = 5;
const BATCHES = 2;
/** Histories at once: each has addresses of its own, and they meet in one journal, its checks and its resets. */
const HISTORIES = 100;
const STEPS = 50;
const PLACES = ['a', 'b', 'c', null] as const;
const CURRENCIES = ['USDT', 'BTC'] as const;

let world: BalanceWorld;
/** Webhooks that there must be, and those that were taken. */
let notified = 0;
let heard = 0;
beforeEach(async () => {
  world = await openBalanceWorld();
  notified = 0;
  heard = 0;
});
afterEach(() => world.close());

type Random = () => number;
const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const met: Record<string, number> = {};
const count = (what: string, times = 1) => void (met[what] = (met[what] ?? 0) + times);

interface History {
  readonly name: string;
  readonly random: Random;
  /** What its webhooks said and nobody has delivered for good. */
  pending: ToldWebhook[];
}

/** One more step of each history: at most one transaction each, in one call where they are alike. */
async function move(histories: readonly History[], currency: string): Promise<void> {
  const alike = new Map<string, { from: string[] | null; to: string[] | null }>();
  for (const { name, random } of histories) {
    if (random() >= 0.35) continue;
    const [from, to] = [pick(random, PLACES), pick(random, PLACES)];
    if (from === null && to === null) continue;
    const key = `${from === null} ${to === null}`;
    const moves = alike.get(key) ?? { from: from === null ? null : [], to: to === null ? null : [] };
    alike.set(key, moves);
    moves.from?.push(`${name}-${from}`);
    moves.to?.push(`${name}-${to}`);
  }
  for (const { from, to } of alike.values()) {
    const many = (from ?? to ?? []).length;
    await world.move({ from, to, currency, amount: '1.5', count: many });
    notified += many;
    count('move', many);
  }
}

/** What Pert has said since, given to the history whose addresses it is about. */
async function hear(histories: readonly History[]): Promise<void> {
  const { received } = world.pert.liveHooks;
  await eventually(async () => received.length >= notified);
  for (const { headers, body } of received.slice(heard)) {
    const told = { deliveryId: String(headers['x-webhook-event-id']), body: Buffer.from(body) };
    const [, name] = /"(b[0-9]+h[0-9]+)-/.exec(told.body.toString()) ?? [];
    histories.find((each) => each.name === name)?.pending.push(told);
  }
  heard = received.length;
}

/** In any order, some twice, some late, some never. */
async function deliver(histories: readonly History[]): Promise<void> {
  const chosen = histories
    .filter(({ random }) => random() < 0.5)
    .flatMap((each) => {
      const some = each.pending.filter(() => each.random() < 0.6).sort(() => each.random() - 0.5);
      each.pending = each.pending.filter((told) => !some.includes(told) || each.random() < 0.2);
      count('delivered', some.length);
      return some;
    });
  const once = [...new Map(chosen.map((told) => [told.deliveryId, told])).values()];
  await storeWebhooks(world.tx, once);
}

function lose(histories: readonly History[]): void {
  for (const each of histories.filter(({ random }) => random() < 0.1)) {
    const had = each.pending.length;
    each.pending = each.pending.filter(() => each.random() < 0.5);
    count('lost', had - each.pending.length);
  }
}

/** What the worker remembers from page to page. */
let turn: PageTurn = {};

/** The worker takes a step, or dies somewhere in it: what it had not committed is gone. */
async function step(random: Random): Promise<void> {
  await world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
  const fatal = random() < 0.3 ? Math.floor(random() * 14) : null;
  const stepped = withSteps(world.deps, async ({ number }) => {
    if (number === fatal) throw new Error('the process died here');
  });
  const { take } = stepped.activities({ take: () => takeBalanceStep(stepped.deps, SOURCE, turn) }) as {
    take: (input: object) => Promise<BalanceStep | null>;
  };
  try {
    const taken = await take(SOURCE);
    count(taken?.kind === 'ended' ? taken.result : (taken?.kind ?? 'none'));
  } catch (error) {
    if (!(error instanceof Error) || error.message !== 'the process died here') throw error;
    count('crash');
    turn = {};
  }
}

async function playBatch(batch: number, random: Random): Promise<void> {
  const histories = Array.from({ length: HISTORIES }, (_, at): History => {
    return { name: `b${batch}h${at}`, random: createRandom(batch * 1_000 + at), pending: [] };
  });
  const everywhere = histories.flatMap(({ name }) =>
    PLACES.flatMap((place) => (place === null ? [] : [`${name}-${place}`])),
  );
  const toAll = { from: null, to: everywhere, count: everywhere.length, webhooks: false };
  for (const currency of CURRENCIES) await world.move({ ...toAll, currency, amount: '1000' });
  for (let n = 0; n < STEPS; n += 1) {
    await move(histories, pick(random, CURRENCIES));
    await hear(histories);
    await deliver(histories);
    lose(histories);
    if (random() < 0.4) await world.drain();
    for (let steps = random() < 0.4 ? 3 : 0; steps > 0; steps -= 1) await step(random);
    if (random() < 0.06) {
      await world.pert.drive('POST', '/_sim/retention', { keep: 1 + Math.floor(random() * 150) });
      count('forgotten');
    }
  }
  await world.drain();
  // From here on the journal reaches back far enough, so that each address is seen once more.
  await world.pert.drive('POST', '/_sim/retention', { keep: 1_000_000 });
  await world.check();
  for (const currency of CURRENCIES) await world.move({ ...toAll, currency, amount: '1' });
  // One may be open from before; the next sees all.
  for (let n = 0; n < 3; n += 1) count(await world.check());
}

test.each(Array.from({ length: RUNS }, (_, run) => run + 1))(
  'whatever comes in whatever order ends equal to the provider’s truth (%d)',
  async (run) => {
    const random = createRandom(run);
    for (let batch = 0; batch < BATCHES; batch += 1) {
      await playBatch(run * 100 + batch, random);
      expect(await world.sums()).toEqual(await world.theirSums());
      expect(await world.addresses()).toEqual(await world.theirAddresses());
    }
    const { rows } = await world.owner.query('select count(*)::int as movements from ledger.movement');
    expect(rows).toEqual([{ movements: 0 }]);
  },
  300_000,
);

test('the histories met what they are about, and never a difference that stayed', () => {
  console.info(`${RUNS * BATCHES * HISTORIES} histories of ${STEPS} steps met ${JSON.stringify(met)}`);
  for (const what of ['move', 'delivered', 'lost', 'crash', 'forgotten', 'page', 'equal', 'healed', 'rebased']) {
    expect([what, met[what] ?? 0]).not.toEqual([what, 0]);
  }
  expect(met['differs'] ?? 0).toBe(0);
});
