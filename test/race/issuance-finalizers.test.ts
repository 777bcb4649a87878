import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { createIssuanceActivities } from '../../src/activities/issuances.js';
import type { IssuanceRecord } from '../../src/contracts/card.js';
import { applyIssuance } from '../../src/db/apply-issuance.js';
import { bookIssuance } from '../../src/db/book-issuance.js';
import { Retryable } from '../../src/db/errors.js';
import { failIssuance } from '../../src/db/finish-issuance.js';
import { readIssuance } from '../../src/db/issuances.js';
import { takeReadTicket } from '../../src/db/read-tickets.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { issuanceInput, makeBuyer } from '../support/issuance-rows.js';
import { balanceOf } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

/** At least so many, and until either side has won once. */
const ROUNDS = 12;
const ROUNDS_MAX = 200;
const HELD = 2_600n;

let world: WorkerWorld;
beforeAll(async () => {
  world = await openWorkerWorld();
});
afterAll(() => world.close());

/** What a statement is given in place of its parameters. */
type Tamper = (sql: string, params: readonly unknown[]) => readonly unknown[];

const untouched: Tamper = (_, params) => params;

/** Takes the guard away: all reservations of a wallet share one hold. */
const sharedHold: Tamper = (sql, params) => {
  if (!sql.includes('ledger.open_accounts')) return params;
  const [books, merchants, customers, kinds, refs, assets] = params as string[][];
  const shared = refs?.map((ref, n) => (kinds?.[n] === 'hold' ? 'iss_shared' : ref));
  return [books, merchants, customers, kinds, shared, assets];
};

/** One that is submitted, and another reservation of the same wallet, with funds. */
async function reservePair(tamper: Tamper = untouched) {
  const buyer = await makeBuyer(world, { cents: 3n * HELD });
  const activities = createIssuanceActivities({ ...world.deps, pool: tampered(tamper) });
  const ids: string[] = [];
  for (const key of ['raced', 'beside it']) {
    const input = issuanceInput(buyer, key);
    const { issuanceId } = await activities.databaseReserveIssuance(input);
    if (issuanceId === null) throw new Error('Nothing was reserved.');
    await activities.databaseSubmitIssuance({ id: issuanceId, runId: 'run', traceId: input.traceId });
    ids.push(issuanceId);
  }
  const [raced, other] = await Promise.all(ids.map((id) => readIssuance(queriesOf(world.owner), id)));
  if (!raced || !other) throw new Error('The issuances are not there.');
  return { buyer, raced, other };
}

/** The same pool, whose statements are tampered with. */
function tampered(tamper: Tamper): pg.Pool {
  const connect = async () => {
    const client = await world.deps.pool.connect();
    const query = (sql: string, params: unknown[] = []) => client.query(sql, [...tamper(sql, params)]);
    return overlaid(client, { query });
  };
  return overlaid(world.deps.pool, { connect });
}

function overlaid<Real extends object>(real: Real, own: Readonly<Record<string, unknown>>): Real {
  return new Proxy(real, {
    get(target, name) {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** Two finalizers that know nothing of each other, nor of any state: only the journal stands between them. */
async function finishBothWays(raced: IssuanceRecord, tamper: Tamper = untouched): Promise<('settle' | 'release')[]> {
  const finish = async (operation: 'settle' | 'release') => {
    await again(() =>
      inTransaction(tampered(tamper), async (tx) => {
        await pause(Math.random() * 4);
        await bookIssuance(tx, { finish: { of: raced, operation }, hold: null }, 'a'.repeat(32));
      }),
    );
    return operation;
  };
  const came = await Promise.allSettled([finish('settle'), finish('release')]);
  return came.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** A race that one side always wins shows nothing. */
const goesOn = (round: number, wins: Readonly<Record<string, number>>) =>
  round < ROUNDS || (round < ROUNDS_MAX && Math.min(...Object.values(wins)) === 0);

async function again<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Retryable)) throw error;
    }
  }
}

async function booked({ id }: IssuanceRecord): Promise<string[]> {
  const { rows } = await world.owner.query<{ kind: string }>(
    `select kind from ledger.movement where subject_id = $1 and kind <> 'issuance_hold' order by kind`,
    [id],
  );
  return rows.map(({ kind }) => kind);
}

const holdOf = async ({ id }: IssuanceRecord): Promise<bigint> => {
  const { rows } = await world.owner.query<{ account: string }>(
    `select account_id as account from ledger.account_balance where kind = 'hold' and ref = $1`,
    [id],
  );
  return balanceOf(world.owner, BigInt(rows[0]?.account ?? 0));
};

test('settle and release at once, while another reservation of the wallet has funds: exactly one posts', async () => {
  const won = { settle: 0, release: 0 };
  for (let round = 0; goesOn(round, won); round += 1) {
    const { buyer, raced, other } = await reservePair();
    const posted = await finishBothWays(raced);
    expect(posted).toHaveLength(1);
    expect(await booked(raced)).toEqual([`issuance_${posted[0]}`]);
    expect([await holdOf(raced), await holdOf(other)]).toEqual([0n, HELD]);
    expect(await balanceOf(world.owner, buyer.purse.wallet)).toBe(posted[0] === 'release' ? 2n * HELD : HELD);
    won[posted[0] ?? 'settle'] += 1;
  }
  process.stdout.write(`won: ${JSON.stringify(won)}\n`);
  expect(Math.min(won.settle, won.release)).toBeGreaterThan(0);
  await expectMoneyInvariants(world.owner);
});

test('with the guard taken away, one hold for all of a wallet, both post: the guard is what was tested', async () => {
  let both = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { raced } = await reservePair(sharedHold);
    if ((await finishBothWays(raced, sharedHold)).length === 2) both += 1;
  }
  expect(both).toBe(ROUNDS);
});

test('the issuer says active while somebody fails it: state, card and journal tell the same one story', async () => {
  const ends = { active: 0, failed: 0 };
  for (let round = 0; goesOn(round, ends); round += 1) {
    const { raced, other } = await reservePair();
    const load = { amount: '25.00', asset: 'USD' };
    const card = { providerRef: `icd-of-${raced.id}`, reference: raced.id, product: 'instant' };
    const made = { ...card, status: 'active', declineReason: null, last4: '4242', expires: '2029-11', load };
    const by = { actor: 'worker:issuer', traceId: 'a'.repeat(32) };
    const settle = async () => {
      const ticket = await takeReadTicket(queriesOf(world.deps.pool));
      const read = { ...by, id: raced.id, ticket, tooLong: false, answer: { found: 'one', card: made } as const };
      await again(() => inTransaction(world.deps.pool, (tx) => applyIssuance(tx, read)));
    };
    const fail = async () => {
      await pause(Math.random() * 12);
      await again(() =>
        inTransaction(world.deps.pool, (tx) => failIssuance(tx, { ...by, id: raced.id, reason: 'issuer_declined' })),
      );
    };
    await Promise.all([settle(), fail()]);
    const { state } = await readIssuance(queriesOf(world.owner), raced.id);
    const settled = state === 'active';
    // Failed first, the card that turns up is found late: no money.
    expect(['active', 'found_late']).toContain(state);
    expect(await booked(raced)).toEqual([settled ? 'issuance_settle' : 'issuance_release']);
    expect([await holdOf(raced), await holdOf(other)]).toEqual([0n, HELD]);
    ends[settled ? 'active' : 'failed'] += 1;
  }
  process.stdout.write(`ended: ${JSON.stringify(ends)}\n`);
  expect(Math.min(ends.active, ends.failed)).toBeGreaterThan(0);
});
