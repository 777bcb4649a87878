import { setTimeout as pause } from 'node:timers/promises';
import { CommitUnknown, DatabaseError } from '../../src/db/errors.js';
import { notification } from '../support/deposit-deliveries.js';
import { expectDepositInvariants, expectNothingComesOf, inboxOf } from '../support/deposit-facts.js';
import { openTestRelay, type TestRelay } from '../support/deposit-relay.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { type OwnPostgres, openOwnPostgres } from '../support/own-postgres.js';
import { eventually } from '../support/simulated-custody.js';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

/** A machine of two cores may have much else to do. */
const WITHIN_MS = 300_000;

const KILLS = 10;
let own: OwnPostgres;
let proxy: TcpProxy;
let world: DepositWorld;
let relay: TestRelay;

beforeAll(async () => {
  own = await openOwnPostgres();
  proxy = await openTcpProxy(own.urlFor('worker'));
  const relayProxy = new URL(own.urlFor('relay'));
  relayProxy.host = new URL(proxy.url).host;
  world = await openDepositWorld({
    database: {
      ...own,
      urlFor: (role) => (role === 'worker' ? proxy.url : own.urlFor(role)),
      close: async () => undefined,
    },
  });
  relay = await openTestRelay(own, { databaseUrl: relayProxy.href });
});
afterAll(async () => {
  await relay?.close();
  await world?.close();
  await proxy?.close();
  await own?.close();
});

it(
  'ten kills of PostgreSQL under load: nothing acknowledged is lost, nothing doubled [CASES A12]',
  async () => {
    const at = await world.address();
    const load = startLoad(at);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const { credited, acknowledged } = load;
      proxy.cutAfterCommits(2);
      await eventually(() => load.credited > credited + 5 && load.acknowledged > acknowledged + 5);
      await killBackend();
      await eventually(() => world.owner.query('select 1').catch(() => null));
    }
    proxy.cutAfterCommits(0);
    await load.stop();
    // Without a COMMIT of which nobody knew what became of it, nothing would have been tested.
    expect(load.ambiguous).toBeGreaterThanOrEqual(KILLS);
    expect(load.credited).toBeGreaterThan(KILLS * 5);
    expect(await walletOf(world, at)).toBe(`${load.credited}.000000`);
    expect(await inboxOf(world.owner, `subject_ref like 'cdp_load%'`)).toHaveLength(load.acknowledged);
    await expectNothingComesOf(world, () => world.page());
    await expectDepositInvariants(world.owner);
  },
  WITHIN_MS,
);

/** `kill -9` of one server process: PostgreSQL ends all others, recovers, and takes connections again. */
async function killBackend(): Promise<void> {
  const { rows } = await world.owner.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name like 'sverka-worker%' or application_name = 'test-relay'
      order by state = 'active' desc, query = 'COMMIT' desc limit 1`,
  );
  if (!rows[0]) throw new Error('There is nobody to kill, so there is no load.');
  process.kill(rows[0].pid, 'SIGKILL');
}

/** Readers that credit deposits and senders of notifications; each tries again until it is told that it is done. */
function startLoad(at: MadeAddress) {
  const load = { going: true, credited: 0, acknowledged: 0, ambiguous: 0, stop };
  const reader = async () => {
    while (load.going) {
      const ref = await world.arrive(at, { amount: '1' });
      while (!(await isFinal(ref))) await pause(5);
      load.credited += 1;
    }
  };
  const isFinal = async (ref: string) => {
    try {
      return (await world.read(ref)).state === 'final';
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error instanceof CommitUnknown) load.ambiguous += 1;
      return false;
    }
  };
  const sender = async (name: number) => {
    for (let n = 0; load.going; n += 1) {
      const body = notification(`cdp_load_${name}_${n}`);
      while ((await relay.post(body)).status !== 200) await pause(5);
      load.acknowledged += 1;
    }
  };
  const running = Promise.all([reader(), reader(), reader(), reader(), sender(1), sender(2), sender(3)]);
  async function stop() {
    load.going = false;
    await running;
  }
  return load;
}
