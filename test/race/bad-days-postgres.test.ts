import { notification } from '../support/deposit-deliveries.js';
import { expectDepositInvariants } from '../support/deposit-facts.js';
import { type OwnPostgres, openOwnPostgres } from '../support/own-postgres.js';
import { openProductWorld, type ProductWorld } from '../support/product-world.js';
import { eventually } from '../support/simulated-custody.js';

/** A machine of two cores may have much else to do. */
const WITHIN_MS = 300_000;

let own: OwnPostgres;
let world: ProductWorld;
let address: string;

// Gateway, relay and worker as they are deployed; none of them is restarted by anybody in these tests.
beforeAll(async () => {
  own = await openOwnPostgres();
  world = await openProductWorld({ database: own, settings: { SVERKA_DATABASE_POOL: '3' } });
  address = await world.address();
});
afterEach(async () => {
  expectAllRunning();
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await world?.close();
  await own?.close();
});

function expectAllRunning(): void {
  expect([world.gateway, world.relay, world.worker].map((process) => process.isRunning())).toEqual([true, true, true]);
}

let arrived = 0;
const arrive = () => {
  arrived += 1;
  return world.arrive(address);
};
/** All that arrived is on the wallet, and not a unit more. */
const allCredited = () => eventually(async () => (await world.available()) === `${arrived}.000000`);
const endConnections = () =>
  world.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'sverka-%' and pid <> pg_backend_pid()`,
  );

it(
  'twenty calls with one key at once: one makes the address, all are answered with it [CASES J04]',
  async () => {
    const body = { network: 'tron', customer_ref: 'many' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.call('POST', '/v1/deposit-addresses', { key: 'one-key', body })),
    );
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    for (const { status } of answers) expect([200, 201, 202]).toContain(status);
    const made = (await world.custody.truth()).effects.filter(({ reference }) => reference === answers[0]?.json.id);
    expect(made).toHaveLength(1);
    const { rows } = await world.owner.query(`select from sverka.request where key = 'one-key'`);
    expect(rows).toHaveLength(1);
  },
  WITHIN_MS,
);

it(
  'PostgreSQL killed: 503 and not ready meanwhile; started again, all goes on by itself [CASES K04]',
  async () => {
    await arrive();
    await allCredited();
    expect(await world.ready()).toEqual(['ok', expect.stringMatching(/ok|degraded/), 'ok']);
    await own.kill();
    const body = notification('cdp_meanwhile');
    const answers = await Promise.all([
      world.call('GET', '/v1/wallet'),
      world.call('POST', '/v1/deposit-addresses', { network: 'tron' }),
    ]);
    for (const { status, headers, json } of answers) {
      expect([status, json.code]).toEqual([503, 'temporarily_unavailable']);
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(await world.notify(body)).toBe(503);
    expect(await world.ready()).toEqual(['failed', 'failed', 'failed']);
    // The custodian's webhook of this one is refused, too, and comes again.
    await arrive();
    await own.start();
    await allCredited();
    expect(await world.notify(body)).toBe(200);
    expect(await world.notify(body)).toBe(200);
    const { rows } = await world.owner.query(`select from sverka.inbox where subject_ref = 'cdp_meanwhile'`);
    expect(rows).toHaveLength(1);
    await eventually(async () => !(await world.ready()).includes('failed'));
  },
  WITHIN_MS,
);

it(
  'all connections ended ten times under load: nobody ends, each deposit is credited once [CASES K04]',
  async () => {
    let ended = 0;
    for (let round = 0; round < 10; round += 1) {
      const load = Promise.all(Array.from({ length: 4 }, arrive));
      const calls = Promise.all(Array.from({ length: 8 }, () => world.call('GET', '/v1/wallet')));
      ended += (await endConnections()).rowCount ?? 0;
      await load;
      for (const { status } of await calls) expect([200, 503]).toContain(status);
    }
    expect(ended).toBeGreaterThan(10);
    await allCredited();
    expect((await world.call('GET', '/v1/wallet')).status).toBe(200);
  },
  WITHIN_MS,
);

it(
  'all connections taken: 503 to who waits too long, and 200 again as soon as one is free [CASES K06]',
  async () => {
    const gate = await world.owner.connect();
    await gate.query('begin; lock table sverka.api_key, sverka.inbox in access exclusive mode');
    const calls = Promise.all(Array.from({ length: 9 }, () => world.call('GET', '/v1/wallet')));
    const hook = world.notify(notification('cdp_waiting'));
    await arrive();
    for (const { status } of await calls) expect(status).toBe(503);
    expect(await hook).toBe(503);
    await gate.query('rollback');
    gate.release();
    expect((await world.call('GET', '/v1/wallet')).status).toBe(200);
    expect(await world.notify(notification('cdp_waiting'))).toBe(200);
    await allCredited();
  },
  WITHIN_MS,
);
