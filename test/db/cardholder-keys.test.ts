import pg from 'pg';
import { readCardholderIdentity } from '../../src/activities/cardholder-identity.js';
import { createCardholder, eraseCardholder } from '../../src/db/cardholders.js';
import { newId, requestId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { sealIdentity } from '../../src/http/gateway/sealing.js';
import { withClient } from '../../src/local/postgres.js';
import type { KeyError } from '../../src/providers/keys/key-provider.js';
import { type CardholderGateway, openCardholderGateway, PERSON } from '../support/cardholders.js';
import { makeMerchant, testKeys } from '../support/gateway.js';
import { memoryKeys } from '../support/memory-keys.js';
import { openTestDatabase, type TestRole } from '../support/test-database.js';

let on: CardholderGateway;
beforeAll(async () => {
  on = await openCardholderGateway();
});
afterAll(async () => on?.gateway.close());

/** `done`, or the SQLSTATE that the role was told. */
async function told(role: TestRole | 'owner', sql: string, params: unknown[] = []): Promise<string> {
  const { database } = on.gateway;
  const client = new pg.Client({ connectionString: role === 'owner' ? database.url : database.urlFor(role) });
  await client.connect();
  try {
    await client.query(sql, params);
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } finally {
    await client.end();
  }
}

describe('what a role may do', () => {
  test.each(['cardholder_member', 'cardholder_key'])(
    'only the worker reads %s, and nobody writes it',
    async (table) => {
      const roles = ['gateway', 'relay', 'console', 'cabinet', 'reports', 'simulators'] as const;
      for (const role of roles)
        expect([role, await told(role, `select * from sverka.${table}`)]).toEqual([role, '42501']);
      expect(await told('worker', `select * from sverka.${table}`)).toBe('done');
      for (const role of ['worker', 'gateway'] as const) {
        for (const sql of [`delete from sverka.${table}`, `insert into sverka.${table} default values`]) {
          expect([role, sql, await told(role, sql)]).toEqual([role, sql, '42501']);
        }
      }
    },
  );

  test('a sealed member cannot be changed and a key neither changed nor taken, by the owner either', async () => {
    await on.make();
    for (const sql of [
      `update sverka.cardholder_member set sealed = sealed`,
      `delete from sverka.cardholder_member`,
      `truncate sverka.cardholder_member`,
      `update sverka.cardholder_key set wrapped = wrapped`,
      `delete from sverka.cardholder_key`,
      `truncate sverka.cardholder_key`,
      `delete from sverka.cardholder`,
    ]) {
      expect([sql, await told('owner', sql)]).toEqual([sql, '42501']);
    }
  });

  test('an erased cardholder stays erased and takes no key', async () => {
    const id = await on.make();
    await on.call('DELETE', `/${id}`);
    const back = `update sverka.cardholder set state = 'active', version = version + 1, first_initial = 'A',
      last_initial = 'B' where id = $1`;
    expect(await told('owner', back, [id])).toBe('23514');
    expect(await told('owner', `update sverka.cardholder set revision = 2 where id = $1`, [id])).toBe('23514');
    const key = `insert into sverka.cardholder_key (cardholder_id, revision, key_id, wrapped, fingerprint)
      values ($1, 1, 'k', decode(repeat('00', 256), 'hex'), decode(repeat('00', 32), 'hex'))`;
    expect(await told('owner', key, [id])).toBe('42501');
  });
});

describe('a ciphertext that was moved', () => {
  const kindOf = (id: string, revision = 1) =>
    on.identity(id, revision).then(
      () => 'opened',
      (error: KeyError) => error.kind,
    );
  /** As someone who may do anything in the database, the guards taken away. */
  async function tamper(sql: string, params: unknown[]): Promise<void> {
    const [guards, undone] = ['disable', 'enable always'].map((how) =>
      [
        `alter table sverka.cardholder_member ${how} trigger append_only`,
        `alter table sverka.cardholder_key ${how} trigger guard_cardholder_key`,
      ].join(';'),
    );
    await on.gateway.tx.query(guards ?? '');
    await on.gateway.tx.query(sql, params);
    await on.gateway.tx.query(undone ?? '');
  }

  test('to another column is refused, and opens again at its own', async () => {
    const id = await on.make();
    const swap = `update sverka.cardholder_member m set sealed = o.sealed from sverka.cardholder_member o
      where m.cardholder_id = $1 and o.cardholder_id = $1 and m.member in ('first_name', 'last_name')
        and o.member in ('first_name', 'last_name') and o.member <> m.member`;
    await tamper(swap, [id]);
    expect(await kindOf(id)).toBe('not_opened');
    await tamper(swap, [id]);
    expect(await kindOf(id)).toBe('opened');
  });

  test('to another cardholder is refused, also together with its key', async () => {
    const [mine, other] = [await on.make(), await on.make({ ...PERSON, document: 'other' })];
    const member = `update sverka.cardholder_member m set sealed = o.sealed from sverka.cardholder_member o
      where m.cardholder_id = $1 and o.cardholder_id = $2 and o.member = m.member`;
    await tamper(member, [mine, other]);
    expect(await kindOf(mine)).toBe('not_opened');
    await tamper(
      `update sverka.cardholder_key k set wrapped = o.wrapped, key_id = o.key_id from sverka.cardholder_key o
        where k.cardholder_id = $1 and o.cardholder_id = $2`,
      [mine, other],
    );
    expect(await kindOf(mine)).toBe('not_opened');
    expect(await kindOf(other)).toBe('opened');
  });

  test('to another revision is refused, also together with its key', async () => {
    const id = await on.make();
    await on.call('PATCH', `/${id}`, { document: 'second' });
    expect(await kindOf(id, 2)).toBe('opened');
    await tamper(
      `update sverka.cardholder_member m set sealed = o.sealed from sverka.cardholder_member o
        where m.cardholder_id = $1 and o.cardholder_id = $1 and m.member = 'document' and o.member = 'document'
          and m.revision = 2 and o.revision = 1`,
      [id],
    );
    await tamper(
      `update sverka.cardholder_key k set wrapped = o.wrapped from sverka.cardholder_key o
        where k.cardholder_id = $1 and o.cardholder_id = $1 and k.revision = 2 and o.revision = 1`,
      [id],
    );
    expect(await kindOf(id, 2)).toBe('not_opened');
    expect(await kindOf(id, 1)).toBe('opened');
  });
});

test('a copy made before the erasure needs the private key; one made after it opens with no key at all', async () => {
  const database = await openTestDatabase();
  const copies: string[] = [];
  const withPool = async <T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> => {
    const pool = createPool(url, { max: 1, applicationName: 'test' });
    return work(pool).finally(() => pool.end());
  };
  const copy = async () => {
    const url = new URL(database.url);
    const [from, to] = [url.pathname.slice(1), `${url.pathname.slice(1)}_${copies.length}`];
    await withClient(process.env['TEST_DATABASE_ADMIN_URL'] ?? '', (client) =>
      client.query(`create database ${to} template ${from}`),
    );
    url.pathname = `/${to}`;
    copies.push(to);
    return url.href;
  };
  const identityIn = (url: string, id: string, keys = testKeys()) =>
    withPool(url, (pool) => readCardholderIdentity(queriesOf(pool), keys, { id, revision: 1 }));

  const { id, merchantId } = await withPool(database.url, (pool) => makeCardholder(pool));
  const before = await copy();
  expect(await withPool(database.url, (pool) => erase(pool, { id, merchantId }))).toBe(true);
  const after = await copy();

  expect(await identityIn(before, id)).toMatchObject({ lastName: PERSON.last_name });
  await expect(identityIn(before, id, memoryKeys('k-1'))).rejects.toMatchObject({ kind: 'not_opened' });
  expect(await identityIn(after, id)).toBeNull();
  // Whoever calls him active again has no key to open him with.
  await withPool(after, async (pool) => {
    await pool.query('alter table sverka.cardholder disable trigger user');
    await pool.query(`update sverka.cardholder set state = 'active', first_initial = 'Z', last_initial = 'W'`);
    const { rows } = await pool.query('select * from sverka.cardholder_key');
    expect(rows).toEqual([]);
  });
  await expect(identityIn(after, id)).rejects.toThrow(/key of revision 1 .* is gone/);
  await withClient(process.env['TEST_DATABASE_ADMIN_URL'] ?? '', async (client) => {
    for (const name of copies) await client.query(`drop database ${name} with (force)`);
  });
  await database.close();
});

async function makeCardholder(pool: pg.Pool): Promise<{ id: string; merchantId: string }> {
  const { id: merchantId } = await makeMerchant(queriesOf(pool));
  const id = newId('cardholder');
  const members = (['first_name', 'last_name', 'birth_date', 'country', 'document'] as const).map((member) => ({
    member,
    text: PERSON[member],
  }));
  const request = {
    id: requestId({ book: 'live', merchantId, key: 'k' }),
    key: 'k',
    method: 'POST',
    path: '/v1/cardholders',
    fingerprint: 'ab'.repeat(32),
  };
  const identity = sealIdentity(testKeys().publicKey('k-1'), { cardholderId: id, revision: 1 }, members);
  const cardholder = { id, book: 'live', merchantId, initials: ['Z', 'W'], country: 'DE', reference: null } as const;
  const made = await inTransaction(pool, (tx) =>
    createCardholder(tx, { ...cardholder, identity, request, traceId: '0'.repeat(32) }),
  );
  if (!made) throw new Error('The cardholder was not made.');
  return { id, merchantId };
}

function erase(pool: pg.Pool, of: { id: string; merchantId: string }): Promise<boolean> {
  return inTransaction(pool, (tx) => eraseCardholder(tx, { ...of, book: 'live', traceId: '0'.repeat(32) }));
}
