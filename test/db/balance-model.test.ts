import { takeBalanceStep } from '../../src/activities/balance-checks.js';
import { createRandom } from '../drill/random.js';
import { type BalanceWorld, openBalanceWorld, SOURCE } from '../support/balance-world.js';
import type { ToldWebhook } from '../support/pert-webhooks.js';

const HISTORIES = 12;
const STEPS = 60;
const ADDRESSES = ['a', 'b', 'c', 'd', null] as const;
const CURRENCIES = ['USDT', 'BTC'] as const;

let world: BalanceWorld;
beforeAll(async () => {
  world = await openBalanceWorld();
  for (const currency of CURRENCIES) {
    for (const to of ['a', 'b', 'c', 'd']) await world.move({ from: null, to, currency, amount: '1000' });
  }
  await world.check();
});
afterAll(() => world.close());

/** One of them, by that random. */
const pick = <T>(random: () => number, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
const met: Record<string, number> = {};
const count = (what: string) => void (met[what] = (met[what] ?? 0) + 1);

test.each(Array.from({ length: HISTORIES }, (_, n) => n + 1))(
  'whatever comes in whatever order ends equal to the provider’s truth (%d)',
  async (seed) => {
    const random = createRandom(seed);
    let pending: ToldWebhook[] = [];
    for (let n = 0; n < STEPS; n += 1) {
      const what = pick(random, [
        'move',
        'move',
        'move',
        'hear',
        'deliver',
        'deliver',
        'lose',
        'step',
        'step',
        'forget',
      ]);
      count(what);
      if (what === 'move') {
        const [from, to] = [pick(random, ADDRESSES), pick(random, ADDRESSES)];
        if (from === null && to === null) continue;
        await world.move({
          from,
          to,
          currency: pick(random, CURRENCIES),
          amount: String(1 + Math.floor(random() * 5)),
        });
      }
      if (what === 'hear') pending = [...pending, ...(await world.webhooks())];
      if (what === 'deliver') {
        // In any order, some twice, some never again.
        const some = pending.filter(() => random() < 0.6).sort(() => random() - 0.5);
        await world.deliver(some);
        if (random() < 0.7) await world.drain();
        pending = pending.filter((each) => !some.includes(each) || random() < 0.2);
      }
      if (what === 'lose') pending = pending.filter(() => random() < 0.5);
      if (what === 'step') {
        await world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
        // A process may die behind any of these: each is a commit, and the next begins with what is there.
        for (let steps = Math.floor(random() * 4); steps > 0; steps -= 1) {
          const step = await takeBalanceStep(world.deps, SOURCE);
          if (step?.kind === 'ended') count(step.result);
        }
      }
      if (what === 'forget' && random() < 0.4) {
        await world.pert.drive('POST', '/_sim/retention', { keep: 1 + Math.floor(random() * 4) });
      }
    }
    await world.webhooks();
    await world.drain();
    // From here on the journal reaches back far enough, so that each address is seen once more.
    await world.pert.drive('POST', '/_sim/retention', { keep: 1_000_000 });
    await world.check();
    for (const to of ['a', 'b', 'c', 'd']) {
      for (const currency of CURRENCIES) await world.move({ from: null, to, currency, amount: '1' });
    }
    // One may be open from before; the next sees all.
    for (let n = 0; n < 3; n += 1) count(await world.check());
    expect(await world.sums()).toEqual(await world.theirSums());
    expect(await world.addresses()).toEqual(await world.theirAddresses());
  },
);

test('the histories met what they are about', () => {
  expect(Object.keys(met).sort()).toEqual(
    expect.arrayContaining(['deliver', 'equal', 'forget', 'healed', 'lose', 'move', 'rebased', 'step']),
  );
  expect(met['differs'] ?? 0).toBe(0);
});
