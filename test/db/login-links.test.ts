import type pg from 'pg';
import { createLoginLink, takeLoginLink } from '../../src/db/login-links.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf, type Tx } from '../../src/db/transaction.js';
import { makePerson } from '../support/decisions.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
let pool: pg.Pool;
let console: Tx;
let userId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  pool = createPool(database.urlFor('console'), { max: 8, applicationName: 'test' });
  console = queriesOf(pool);
  userId = await makePerson(owner, 'operator');
});
afterAll(async () => {
  await Promise.all([owner.end(), pool.end()]);
  await database.close();
});

async function link(login = 'operator'): Promise<string> {
  const token = await createLoginLink(console, login);
  if (token === null) throw new Error('There is no such person.');
  return token;
}

it('a link is used once, and says whose it is', async () => {
  const token = await link();
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await takeLoginLink(console, token)).toBe(userId);
  expect(await takeLoginLink(console, token)).toBeNull();
});

it('of eight who use it at once one is let in', async () => {
  const token = await link();
  const taken = await Promise.all(Array.from({ length: 8 }, () => takeLoginLink(console, token)));
  expect(taken.filter((each) => each !== null)).toEqual([userId]);
});

it('a fresh link takes the place of the one before it, and of no other person’s', async () => {
  const otherId = await makePerson(owner, 'other');
  const [old, others] = [await link(), await link('other')];
  const fresh = await link();
  expect(await takeLoginLink(console, old)).toBeNull();
  expect(await takeLoginLink(console, fresh)).toBe(userId);
  expect(await takeLoginLink(console, others)).toBe(otherId);
});

it('one that is too old, made up, or of a disabled person lets nobody in', async () => {
  const old = await link();
  await owner.query(`update sverka.login_link set expires_at = clock_timestamp() where used_at is null`);
  expect(await takeLoginLink(console, old)).toBeNull();
  expect(await takeLoginLink(console, 'A'.repeat(43))).toBeNull();
  await makePerson(owner, 'leaving');
  const token = await link('leaving');
  await owner.query(`update sverka."user" set disabled_at = now() where login = 'leaving'`);
  expect(await takeLoginLink(console, token)).toBeNull();
  expect(await createLoginLink(console, 'leaving')).toBeNull();
  expect(await createLoginLink(console, 'nobody')).toBeNull();
});

it('only the hash is kept, and no role reads even that', async () => {
  const token = await link();
  const { rows } = await owner.query<{ text: string }>('select l::text as text from sverka.login_link l');
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ text }) => text.includes(token))).toEqual([]);
  for (const role of ['worker', 'gateway', 'console'] as const) {
    const other = createPool(database.urlFor(role), { max: 1, applicationName: 'test' });
    await expect(other.query('select from sverka.login_link')).rejects.toMatchObject({ code: '42501' });
    await other.end();
  }
});
