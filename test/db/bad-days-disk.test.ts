import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { Unavailable } from '../../src/db/errors.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { withClient } from '../../src/local/postgres.js';
import { notification } from '../support/deposit-deliveries.js';
import { expectDepositInvariants, expectNothingComesOf } from '../support/deposit-facts.js';
import { openTestRelay } from '../support/deposit-relay.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { type OwnPostgres, openOwnPostgres } from '../support/own-postgres.js';
import { openSmallDisk, type SmallDisk } from '../support/small-disk.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

it.each(['53100', '53200', '53400', '58030'])(
  '%s is an outage and no bug: everybody tries again later',
  async (code) => {
    const database = await openTestDatabase();
    const pool = createPool(database.urlFor('relay'), { max: 1, applicationName: 'test' });
    const raise = `do $$ begin raise exception 'full' using errcode = '${code}'; end $$`;
    await expect(queriesOf(pool).query(raise)).rejects.toBeInstanceOf(Unavailable);
    expect(await queriesOf(pool).query('select 1 as one')).toEqual([{ one: 1 }]);
    await pool.end();
    await database.close();
  },
);

// Where nothing may be mounted, only the class of the error is shown (above).
const probe = openSmallDisk(1);
probe?.close();

(probe ? describe : describe.skip)('a disk that is full', () => {
  let own: OwnPostgres;
  let disk: SmallDisk;
  let world: DepositWorld;

  beforeAll(async () => {
    own = await openOwnPostgres();
    const { uid, gid } = statSync(own.dataFolder);
    const small = openSmallDisk(48, { uid, gid });
    if (!small) throw new Error('A small disk could be mounted a moment ago.');
    disk = small;
    world = await openDepositWorld({ database: await onDisk(own, disk) });
  });
  afterAll(async () => {
    await world?.close();
    await own?.close();
    disk?.close();
  });

  it('loses nothing that was acknowledged, and all goes on by itself when there is room again', async () => {
    const relay = await openTestRelay(world.database);
    try {
      const at = await world.address();
      const acknowledged: string[] = [];
      disk.fill();
      const refused = await firstRefused(async () => {
        const ref = await world.arrive(at, { amount: '1' });
        // Not to be compressed, so that each needs room of its own.
        const body = notification(ref, { padding: randomBytes(60_000).toString('base64') });
        const { status } = await relay.post(body);
        if (status === 200) acknowledged.push(ref);
        return status === 503 ? { ref, body } : null;
      });
      await firstRefused(async () => (await creditFails(at)) || null);
      disk.empty();
      expect((await relay.post(refused.body)).status).toBe(200);
      for (const ref of [...acknowledged, refused.ref]) await world.read(ref);
      const { rows } = await world.owner.query<{ n: number }>(
        `select count(*)::int as n from sverka.inbox where status = 'done'`,
      );
      expect(rows).toEqual([{ n: acknowledged.length + 1 }]);
      await world.page();
      const arrived = (await world.truth()).objects.deposits?.length ?? 0;
      expect(await walletOf(world, at)).toBe(`${arrived}.000000`);
      await expectNothingComesOf(world, () => world.page());
      await expectDepositInvariants(world.owner);
    } finally {
      await relay.close();
    }
  });

  /** One more deposit is read: true when there was no room to book it, and then nothing of it is there. */
  async function creditFails(at: MadeAddress): Promise<boolean> {
    const ref = await world.arrive(at, { amount: '1' });
    const error = await world.read(ref).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error === null) return false;
    expect(error).toBeInstanceOf(Unavailable);
    return true;
  }
});

/** A copy of the schema whose tables, and nothing else of the server, stand on that disk. */
async function onDisk(own: OwnPostgres, disk: SmallDisk): Promise<TestDatabase> {
  const url = (of: string) => Object.assign(new URL(of), { pathname: '/small' }).href;
  await withClient(Object.assign(new URL(own.url), { pathname: '/postgres' }).href, async (client) => {
    await client.query(`create tablespace small location '${disk.folder}'`);
    await client.query('create database small template sverka tablespace small');
  });
  return { url: url(own.url), urlFor: (role) => url(own.urlFor(role)), close: async () => undefined };
}

/** Repeats it until it meets a refusal; one that never comes makes the test void. */
async function firstRefused<T>(step: () => Promise<T | null>): Promise<T> {
  for (let n = 0; n < 2_000; n += 1) {
    const refused = await step();
    if (refused !== null) return refused;
  }
  throw new Error('The disk never was full, so nothing was tested.');
}
