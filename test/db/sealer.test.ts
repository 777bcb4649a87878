import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { seal } from '../../src/db/seal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { type DepositWorld, type MadeAddress, openDepositWorld } from '../support/deposit-world.js';
import { eventually } from '../support/simulated-custody.js';

/** Of the merchant one, of its address two. */
const MADE = 3;

let world: DepositWorld;
let at: MadeAddress;

beforeEach(async () => {
  world = await openDepositWorld();
  at = await world.address();
});
afterEach(async () => {
  await world.close();
});

const sealAll = (most = 1_000) => seal(queriesOf(world.pool), most);

/**
 * Seals until so many audit rows have a position. Once may not do: an open transaction of any database of the cluster
 * holds the sealer back, and other tests have theirs. Answers how many rows of all kinds were numbered.
 */
async function sealUntil(audits: number, most = 1_000): Promise<{ sealed: number; turns: number }> {
  let [sealed, turns] = [0, 0];
  await eventually(async () => {
    const got = await sealAll(most);
    sealed += got;
    turns += got > 0 ? 1 : 0;
    return (await sealedAudit()).length >= audits;
  });
  return { sealed: sealed + (await sealAll(most)), turns };
}

async function credited(): Promise<string> {
  const ref = await world.arrive(at, { amount: '1' });
  await world.read(ref);
  return ref;
}

/** A deposit noticed in a transaction that is still open. */
async function openBirth(): Promise<{ client: pg.PoolClient; id: string }> {
  const client = await world.owner.connect();
  await client.query('begin');
  const id = `dep_${'0'.repeat(23)}${String(Math.floor(Math.random() * 900) + 100)}`;
  await client.query(
    `insert into sverka.deposit (id, book, merchant_id, deposit_address_id, network, provider, provider_account,
       provider_ref, provider_status, reported_text, reported_amount, reported_asset, settlement_mode, last_read_at,
       state, actor)
     select $1, book, merchant_id, id, network, provider, provider_account, $1, 'seen', '1', 1, asset, settlement_mode,
       now(), 'noticed', 'worker:test' from sverka.deposit_address limit 1`,
    [id],
  );
  return { client, id };
}

async function sealedAudit(): Promise<{ position: string; subject: string; version: number }[]> {
  const { rows } = await world.owner.query(
    `select s.position::text, a.subject_id as subject, a.version from sverka.audit_seal s
       join sverka.audit a on a.id = s.audit_id order by s.position`,
  );
  return rows;
}

/** Rebuilds the chain with SQL of its own; answers the first position whose hash does not hold, or null. */
async function brokenAt(pool: pg.Pool): Promise<string | null> {
  const { rows } = await pool.query<{ position: string }>(
    `with recursive chain as (
       select s.position, s.hash, sha256(''::bytea || sverka.audit_bytes(a)) as wanted from sverka.audit_seal s
         join sverka.audit a on a.id = s.audit_id where s.position = 1
       union all
       select s.position, s.hash, sha256(c.hash || sverka.audit_bytes(a)) from chain c
         join sverka.audit_seal s on s.position = c.position + 1 join sverka.audit a on a.id = s.audit_id)
     select position::text from chain where hash <> wanted order by position limit 1`,
  );
  return rows[0]?.position ?? null;
}

it('numbers movements, events and audit rows without a gap, and a second run numbers nothing', async () => {
  await credited();
  await credited();
  // Four audit rows and three events a deposit, one movement, and the rows of merchant and address.
  expect((await sealUntil(MADE + 2 * 4)).sealed).toBe(MADE + 2 * (4 + 3 + 1));
  expect(await sealAll()).toBe(0);
  for (const kind of ['movement', 'event', 'audit']) {
    const { rows } = await world.owner.query(
      `select count(*)::int as count, max(position)::int as last, min(position)::int as first from sverka.${kind}_seal`,
    );
    expect(rows[0]).toEqual({ count: rows[0]?.last, last: rows[0]?.last, first: 1 });
  }
});

it('a position is handed out in pieces as in one', async () => {
  for (let n = 0; n < 4; n += 1) await credited();
  expect((await sealUntil(MADE + 4 * 4, 3)).turns).toBeGreaterThan(3);
  expect((await sealedAudit()).map(({ position }) => Number(position))).toEqual(
    Array.from({ length: MADE + 4 * 4 }, (_, n) => n + 1),
  );
  expect(await brokenAt(world.owner)).toBeNull();
});

it('what an open transaction wrote comes later, and nothing slips in behind a position', async () => {
  await credited();
  const open = await openBirth();
  // Written and committed while the other, which is older, is still open.
  await credited();
  await sealUntil(MADE + 4);
  const before = await sealedAudit();
  expect(before).toHaveLength(MADE + 4);
  await open.client.query('commit');
  open.client.release();
  await sealUntil(MADE + 4 + 1 + 4);
  const after = await sealedAudit();
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after[before.length]?.subject).toBe(open.id);
  expect(after).toHaveLength(before.length + 1 + 4);
});

it('what was committed after it had looked comes after what was open when it looked', async () => {
  await sealUntil(MADE);
  const open = await openBirth();
  await credited();
  // Holds the sealer between its look at the open transactions and its look at the rows.
  const gate = await world.owner.connect();
  await gate.query('begin; lock table sverka.seal_mark in access exclusive mode');
  // Not as the worker, whose waits for a lock end after two seconds.
  const sealing = seal(queriesOf(world.owner), 1_000);
  await eventually(async () => {
    const { rows } = await world.owner.query(
      `select from pg_stat_activity where query like '%sverka.seal(%' and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await open.client.query('commit');
  open.client.release();
  const ref = await credited();
  await gate.query('commit');
  gate.release();
  await sealing;
  await sealUntil(MADE + 1 + 4 + 4);
  const subjects = (await sealedAudit()).map(({ subject }) => subject);
  const { rows } = await world.owner.query<{ id: string }>('select id from sverka.deposit where provider_ref = $1', [
    ref,
  ]);
  expect(subjects.indexOf(open.id)).toBeGreaterThan(0);
  expect(subjects.indexOf(open.id)).toBeLessThan(subjects.indexOf(rows[0]?.id ?? ''));
});

it('without the horizon a younger commit would come before an older one: the horizon is the guard', async () => {
  const { rows } = await world.owner.query<{ text: string }>(
    `select pg_get_functiondef('sverka.seal'::regproc) as text`,
  );
  const guard = 'a.xid < pg_snapshot_xmin(horizon)';
  expect(rows[0]?.text).toContain(guard);
  await world.owner.query((rows[0]?.text ?? '').replace(guard, 'true'));
  await sealUntil(MADE);
  const open = await openBirth();
  const ref = await credited();
  await sealUntil(MADE + 4);
  await open.client.query('commit');
  open.client.release();
  await sealUntil(MADE + 4 + 1);
  const { rows: younger } = await world.owner.query('select id from sverka.deposit where provider_ref = $1', [ref]);
  const subjects = (await sealedAudit()).map(({ subject }) => subject);
  expect(subjects.indexOf(open.id)).toBeGreaterThan(subjects.indexOf(younger[0]?.id));
});

it('two sealers at once number every row once', async () => {
  for (let n = 0; n < 10; n += 1) await credited();
  const two = createPool(world.database.urlFor('gateway'), { max: 4, applicationName: 'test' });
  const sealers = [world.pool, two, world.pool, two].map(async (pool) => {
    let sealed = 0;
    for (let turns = 0; turns < 10; turns += 1) sealed += await seal(queriesOf(pool), 7);
    return sealed;
  });
  const sealed = (await Promise.all(sealers)).reduce((sum, each) => sum + each, 0);
  await two.end();
  expect(sealed + (await sealUntil(MADE + 10 * 4)).sealed).toBe(MADE + 10 * (4 + 3 + 1));
  expect(await sealedAudit()).toHaveLength(MADE + 10 * 4);
  expect(await brokenAt(world.owner)).toBeNull();
});

it('the chain shows a row that a superuser changed, and one that was taken away', async () => {
  await credited();
  await sealUntil(MADE + 4);
  expect(await brokenAt(world.owner)).toBeNull();
  await world.owner.query('alter table sverka.audit disable trigger all');
  await world.owner.query(
    `update sverka.audit set actor = 'user:somebody' where id = (select max(id) - 2 from sverka.audit)`,
  );
  expect(await brokenAt(world.owner)).toBe('5');
  await world.owner.query(
    `update sverka.audit set actor = 'worker:custody' where id = (select max(id) - 2 from sverka.audit)`,
  );
  expect(await brokenAt(world.owner)).toBeNull();
});

it('after a restore into a cluster whose transaction numbers are smaller it goes on numbering', async () => {
  await credited();
  await sealUntil(MADE + 4);
  // As after a restore: what is there has numbers that this cluster has not reached yet, some of it unsealed.
  await credited();
  for (const [schema, table] of [
    ['ledger', 'movement'],
    ['sverka', 'event'],
    ['sverka', 'audit'],
  ]) {
    await world.owner.query(`alter table ${schema}.${table} disable trigger all`);
    await world.owner.query(`update ${schema}.${table} set xid = (xid::text::bigint + 4000000000)::text::xid8`);
    await world.owner.query(`alter table ${schema}.${table} enable trigger all`);
  }
  await world.owner.query(
    `update sverka.seal_mark set sealed_before = (sealed_before::text::bigint + 4000000000)::text::xid8`,
  );
  expect((await sealUntil(MADE + 2 * 4)).sealed).toBe(8);
  await credited();
  expect((await sealUntil(MADE + 3 * 4)).sealed).toBe(8);
  expect(await sealAll()).toBe(0);
  expect(await sealedAudit()).toHaveLength(MADE + 3 * 4);
  expect(await brokenAt(world.owner)).toBeNull();
});
