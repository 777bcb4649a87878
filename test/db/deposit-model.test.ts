import fc from 'fast-check';
import { expectDepositInvariants } from '../support/deposit-facts.js';
import { type ComparedHistories, playHistories } from '../support/deposit-histories.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { sumOfEntries } from '../support/money-invariants.js';

const HISTORIES = 200;
const STEPS = 50;
const RUNS = 5;

/** All that the histories have to run into; a test that met less proves less. */
const MET = [
  'applied',
  'at once',
  'copy:other',
  'copy:same',
  'flag:amount_changed_after_credit',
  'flag:amount_too_precise_after_credit',
  'flag:completed_after_rejection',
  'flag:failed_after_credit',
  'flag:no_transaction_after_credit',
  'flag:transaction_changed_after_credit',
  'flag:unknown_provider_status',
  'overtaken',
  'read again',
  'reopened',
  'repeated',
  'stale',
  'to:confirming',
  'to:dropped',
  'to:final',
  'to:parked',
  'to:rejected',
];

let world: DepositWorld;

beforeEach(async () => {
  world = await openDepositWorld();
});
afterEach(async () => {
  await world.close();
});

/** A bound for a machine that does much else. */
const WITHIN_MS = 300_000;

it(
  `${RUNS * HISTORIES} histories of ${STEPS} readings, crossing and repeating, agree with the model`,
  async () => {
    const met = new Map<string, number>();
    let [run, credits] = [0, 0];
    const property = fc.asyncProperty(fc.nat(), async (seed) => {
      const at = await world.address({ customerRef: `run-${run}` });
      const played = await playHistories(world, at, { run: `r${run}`, seed, histories: HISTORIES, steps: STEPS });
      expect(played.difference).toBeNull();
      await expectMoney(at.customerId, played);
      for (const [what, times] of played.met) met.set(what, (met.get(what) ?? 0) + times);
      credits += played.credits;
      run += 1;
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    const { movements } = await expectDepositInvariants(world.owner);
    expect(movements).toBe(credits);
    const counts = Object.fromEntries([...met].sort(([a], [b]) => (a < b ? -1 : 1)));
    process.stdout.write(`${RUNS * HISTORIES} histories of ${STEPS} readings met ${JSON.stringify(counts)}\n`);
    expect(Object.keys(counts)).toEqual(MET);
  },
  WITHIN_MS,
);

async function expectMoney(customerId: string | null, played: ComparedHistories): Promise<void> {
  const owner = { book: 'live' as const, merchantId: world.merchantId, customerId };
  expect(await sumOfEntries(world.pool, { ...owner, kind: 'wallet', asset: 'USDT-TRC20' })).toBe(played.total);
}

// Without a guard the comparison has to turn red.
it.each([
  [
    'no ticket is kept',
    `alter sequence sverka.read_ticket rename to real_ticket;
     create sequence sverka.read_ticket; grant usage on sequence sverka.read_ticket to sverka_worker;
     create function sverka.forget() returns trigger language plpgsql as
       $$ begin new.applied_ticket := 0; return new; end $$;
     create trigger forget before update on sverka.deposit for each row execute function sverka.forget()`,
  ],
  [
    'a credit that hides its output',
    `create function sverka.hide() returns trigger language plpgsql as
       $$ begin if new.state = 'final' then new.tx_hash := 'hidden ' || new.id; end if; return new; end $$;
     create trigger hide before update on sverka.deposit for each row execute function sverka.hide()`,
  ],
  [
    'a flag that is lost',
    `create function sverka.lose() returns trigger language plpgsql as
       $$ begin new.flag := null; return new; end $$;
     create trigger lose before update on sverka.deposit for each row execute function sverka.lose()`,
  ],
])('with a planted fault the comparison turns red: %s', async (_name, fault) => {
  await world.owner.query(fault);
  const at = await world.address();
  const played = await playHistories(world, at, { run: 'f', seed: 7, histories: 60, steps: STEPS }).then(
    ({ difference }) => difference,
    String,
  );
  expect(played).toMatch(/model|journal refused|stale/);
});
