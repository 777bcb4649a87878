import { createAttempts } from '../../src/activities/attempts.js';
import { createActivities } from '../../src/activities/create-activities.js';
import type { ActivityDeps } from '../../src/activities/deps.js';
import { restartLoads } from '../../src/activities/restart-stranded.js';
import type { CardLoadInput } from '../../src/contracts/messages.js';
import { requestId } from '../../src/db/new-id.js';
import type { IssuerClient } from '../../src/providers/issuer/client.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { type CardWorld, openCardWorld } from '../support/card-world.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import type { RunningWorker } from '../support/worker-world.js';

/**
 * A death leaves what was committed and what the issuer has done, and nothing of what was to follow; Temporal hears of
 * a failed attempt. Here an attempt ends at that point for once, which leaves the same; real kills are the drill's.
 */
let deadly: { readonly at: string; readonly when: 'before' | 'after' } | null = null;

let it: CardWorld;
let worker: RunningWorker;
beforeAll(async () => {
  it = await openCardWorld({ settings: { SVERKA_STRANDED_AGE: '1ms' } });
  worker = await it.world.startWorker({ deps: withDeaths, activities: deathlyActivities });
});
afterAll(async () => {
  await worker.stop();
  await it.close();
});
afterEach(async () => {
  if (deadly !== null) throw new Error(`Void: nothing died ${deadly.when} ${deadly.at}.`);
  await expectMoneyInvariants(it.world.owner, 'any');
});

type Call = (...args: unknown[]) => Promise<unknown>;

/** Once, at the point that was armed, it ends in an error that is no answer of anybody. */
async function mortal(at: string, call: () => Promise<unknown>): Promise<unknown> {
  const when = deadly?.at === at ? deadly.when : null;
  if (when === null) return call();
  deadly = null;
  if (when === 'after') await call();
  throw new Error(`It died ${when} ${at}.`);
}

function deathlyActivities(real: object): object {
  const calls: [string, Call][] = Object.entries(real);
  return Object.fromEntries(
    calls.map(([name, call]) => [name, (...args: unknown[]) => mortal(name, () => call(...args))]),
  );
}

function withDeaths(deps: ActivityDeps): ActivityDeps {
  const issuer: ActivityDeps['issuer'] = (of) =>
    new Proxy<IssuerClient>(deps.issuer(of), {
      get(target, name) {
        const real: unknown = Reflect.get(target, name);
        if (typeof real !== 'function' || !String(name).startsWith('create')) return real;
        return (...args: unknown[]) => mortal(String(name), () => Reflect.apply(real, target, args));
      },
    });
  return { ...deps, issuer };
}

describe('a load whose worker dies', () => {
  test.each([
    ['after', 'databaseReserveCardLoad'],
    ['after', 'databaseSubmitCardLoad'],
    ['before', 'providerCreateCardLoad'],
    ['before', 'createLoad'],
    ['after', 'createLoad'],
    ['after', 'providerCreateCardLoad'],
  ] as const)('%s %s is made once', async (when, at) => {
    const card = await it.issued(`load-${when}-${at}`);
    deadly = { at, when };
    const { body } = await it.load(card, `killed-${when}-${at}`, { prefer: 'wait=0' });
    await eventually(async () => (await it.onCard(card.id)) === 3_500n);
    await eventually(async () => (await it.movementsOf(body.id)).length === 2);
    expect(await it.movementsOf(body.id)).toEqual(['load_hold', 'load_settle']);
    expect([await it.loadsMade(body.id), await it.eventsOf(body.id)]).toEqual([1, ['load.completed']]);
  });

  test('for good, with Temporal’s store lost, is followed anew from its row', async () => {
    const card = await it.issued('stranded-load');
    const key = 'stranded';
    const request = {
      id: requestId({ book: 'live', merchantId: it.merchant.id, key }),
      key,
      method: 'POST',
      path: '/',
    };
    const input: CardLoadInput = {
      ...{ book: 'live', provider: 'issuer', account: 'main-live', merchantId: it.merchant.id, cardId: card.id },
      ...{ asset: 'USD', amount: '1000', request: { ...request, fingerprint: 'ab'.repeat(32) }, traceId: newTraceId() },
    };
    const { loadId } = await createActivities(it.world.deps).databaseReserveCardLoad(input);
    const { deps, tx } = it.world;
    await eventually(async () => {
      await restartLoads(deps, tx, createAttempts(deps));
      return (await it.onCard(card.id)) === 3_500n;
    });
    expect(await it.loadsMade(loadId ?? '')).toBe(1);
  });
});

describe('a close whose worker dies', () => {
  test.each([
    ['after', 'databaseSubmitCardChange'],
    ['before', 'createClose'],
    ['after', 'createClose'],
    ['after', 'providerCreateCardChange'],
  ] as const)('%s %s returns what was on the card once', async (when, at) => {
    const card = await it.issued(`close-${when}-${at}`);
    const before = await it.available();
    deadly = { at, when };
    await it.change(card, 'close', { key: `killed-${when}-${at}`, prefer: 'respond-async' });
    await it.settled(card.id);
    await eventually(() => deadly === null);
    expect([(await it.available()) - before, await it.movementsOf(card.id)]).toEqual([2_500n, ['card_return']]);
    expect([await it.statusAt(card), await it.alertsOf(card.id)]).toEqual(['closed', []]);
  });
});
