import { setTimeout as pause } from 'node:timers/promises';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { type CardWorld, openCardWorld } from '../support/card-world.js';
import { makeMerchant } from '../support/gateway.js';
import { fund, openPurse } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import type { GatewayAnswer } from '../support/worker-gateway.js';
import { arrive, creditsOf, depositInput, makeKnownAddress } from '../support/worker-rows.js';
import type { RunningWorker } from '../support/worker-world.js';

/** As long as the bad day says; we would wait longer than that for the answer. */
const HANGS_MS = 60_000;
const SETTINGS = { SVERKA_PROVIDER_TIMEOUT: '75s', SVERKA_BREAKER_LEASE: '95s', SVERKA_DATABASE_POOL: '1' };
/** The minute itself, and what a busy machine needs beside it. */
const WITHIN_MS = 300_000;

let it: CardWorld;
let worker: RunningWorker;
beforeAll(async () => {
  it = await openCardWorld({ settings: SETTINGS });
  worker = await it.world.startWorker();
});
afterAll(async () => {
  await worker.stop();
  await it.close();
});

test(
  'the issuer hangs for 60 s over one card: with a pool of one, other cards and other money go on, and it settles once',
  async () => {
    await it.issuer.drive('POST', '/_sim/faults', {
      ...{ match: { method: 'POST', path: '/v1/cards' }, fault: 'slow', ms: HANGS_MS, times: 1 },
    });
    await it.issue('hanging', { prefer: 'respond-async' });
    await eventually(async () => ((await it.issuer.truth()).requests['POST /v1/cards'] ?? 0) === 1);
    const { body } = await it.issue('hanging', { prefer: 'respond-async' });
    const [at] = await it.world.tx.query<{ now: string }>('select clock_timestamp()::text as now');
    const { id: issuance } = (await it.card(body.id)).issuance;

    await Promise.all([others(), deposits()]);
    // The others are done before the issuer answers: else nothing was shown.
    expect(await madeFor(issuance)).toBe(0);
    expect(await openSince(at?.now ?? '')).toBe(0);

    while ((await it.card(body.id)).state !== 'active') await pause(250);
    const { open_transactions: seen } = await it.issuer.truth();
    expect([seen.max, seen.measured > 0]).toEqual([0, true]);
    expect([await madeFor(issuance), await it.movementsOf(issuance)]).toEqual([
      ...[1, ['issuance_hold', 'issuance_settle']],
    ]);
    expect(await it.eventsOf(body.id)).toEqual(['card.active']);
    await expectMoneyInvariants(it.world.owner, 'any');
  },
  WITHIN_MS,
);

/** Cards of the same merchant and of another, one that is declined, and what is done with one that is there. */
async function others(): Promise<void> {
  const other = await makeMerchant(it.world.tx);
  const purse = await openPurse(it.world.owner, { asset: 'USD', merchantId: other.id });
  await fund(it.world.owner, purse, { wallet: 10_000n });
  const declined = await it.cardholderWith({ document: 'DECLINE-1' });
  const [same, theirs, refused] = await Promise.all([
    it.issued('same'),
    ended(() => it.issue('other', { merchant: other })),
    ended(() => it.issue('declined', { cardholder: declined })),
  ]);
  expect([theirs.status, refused.status]).toEqual([201, 402]);
  expect((await ended(() => it.load(same, 'load'))).body).toMatchObject({ state: 'completed' });
  await it.change(same, 'close', { key: 'close' });
  await it.settled(same.id);
  expect(await it.movementsOf(same.id)).toEqual(['card_return']);
}

/** The answer when it is no longer on its way: the same key again and again. */
async function ended(ask: () => Promise<GatewayAnswer>): Promise<GatewayAnswer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 202) return answer;
  }
}

/** A deposit that a third merchant gets meanwhile. */
async function deposits(): Promise<void> {
  const { world } = it;
  const to = await makeKnownAddress(world);
  await nudgeDeposit(world.temporal, depositInput(await arrive(world, to)), { start: true });
  await eventually(async () => (await creditsOf(world, to.merchantId)).length === 1);
}

/** Cards that the issuer has made under our reference. */
async function madeFor(issuance: string): Promise<number> {
  const { effects } = await it.issuer.truth();
  return effects.filter(({ kind, reference }) => kind === 'card' && reference === issuance).length;
}

/** Transactions of anyone on this database that began before then and are still open. */
async function openSince(then: string): Promise<number> {
  const rows = await it.world.tx.query(
    `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start < $1`,
    [then],
  );
  return rows.length;
}
