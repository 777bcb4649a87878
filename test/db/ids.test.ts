import type pg from 'pg';
import { decodeId, encodeId, ID_PREFIXES, isId } from '../../src/contracts/ids.js';
import { raiseAlert } from '../../src/db/alerts.js';
import { hashParts } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
});
afterAll(async () => {
  await owner?.end();
  await database?.close();
});

test('an id made in the database has the grammar and the bits of a UUIDv7, and none is made twice', async () => {
  const { rows } = await owner.query<{ id: string }>(`select sverka.new_id('alt') as id from generate_series(1, 2000)`);
  const ids = rows.map(({ id }) => id);
  expect(ids.filter((id) => !isId('alert', id))).toEqual([]);
  expect(new Set(ids).size).toBe(2000);
  const marks = ids.map((id) => decodeId(id)).map((bytes) => [(bytes[6] ?? 0) >> 4, (bytes[8] ?? 0) >> 6]);
  expect(marks.every(([version, variant]) => version === 7 && variant === 2)).toBe(true);
  const used = new Set(ids.flatMap((id) => [...id.slice(5)]));
  expect([...used].sort().join('')).toBe('0123456789abcdefghjkmnpqrstvwxyz');
});

test('its first 48 bits are the millisecond, so that ids made later sort later', async () => {
  const take = async () => {
    const { rows } = await owner.query<{ id: string; before: string; after: string }>(
      `select floor(extract(epoch from statement_timestamp()) * 1000)::text as before, sverka.new_id('alt') as id,
         (select ceil(extract(epoch from clock_timestamp()) * 1000)::text from pg_sleep(0.003)) as after`,
    );
    return rows[0] ?? { id: '', before: '', after: '' };
  };
  const taken = [await take(), await take(), await take()];
  for (const { id, before, after } of taken) {
    const at = Buffer.from(decodeId(id)).readUIntBE(0, 6);
    expect(at).toBeGreaterThanOrEqual(Number(before));
    expect(at).toBeLessThanOrEqual(Number(after));
  }
  const ids = taken.map(({ id }) => id);
  expect([...ids].sort()).toEqual(ids);
});

test('an alert has such an id', async () => {
  await raiseAlert(queriesOf(owner), { key: 'k', kind: 'test', detail: 'A test.' });
  const { rows } = await owner.query<{ id: string }>('select id from sverka.alert');
  expect(rows.map(({ id }) => isId('alert', id) && id.startsWith(`${ID_PREFIXES.alert}_`))).toEqual([true]);
});

test.each([
  ['nothing', []],
  ['an empty text', ['']],
  ['the same letters apart', ['a', 'bc']],
  ['… and otherwise apart', ['ab', 'c']],
  ['other scripts, and a long one', ['Ж', '', '\u{1f4b8}', 'x'.repeat(300)]],
])('the database hashes %s as the product does, and writes the same id of it', async (_, parts) => {
  const { rows } = await owner.query<{ hash: Buffer; id: string }>(
    `select h.hash, sverka.encode_id('mov', h.hash) as id from (select sverka.hash_parts($1::text[]) as hash) h`,
    [parts],
  );
  const wanted = hashParts(parts);
  expect(rows.map(({ hash, id }) => [hash?.toString('hex'), id])).toEqual([
    [wanted.toString('hex'), encodeId('movement', wanted)],
  ]);
});
