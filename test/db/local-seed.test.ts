import type pg from 'pg';
import { takeLoginLink } from '../../src/db/login-links.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { seed } from '../../src/local/seed.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;

beforeEach(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
});
afterEach(async () => {
  await owner.end();
  await database.close();
});

it('each start finds the same merchants and people, with keys and links that are its own', async () => {
  const [first, second] = [await seed(database.url), await seed(database.url)];
  const idsOf = ({ merchants }: typeof first) => merchants.map(({ id, book }) => [id, book]);
  expect(idsOf(second)).toEqual(idsOf(first));
  expect(second.people.map(({ login, role }) => [login, role])).toEqual([
    ['requester', 'merchant requester'],
    ['requester-test', 'merchant requester'],
    ['operator', 'operator'],
    ['approver', 'approver'],
    ['approver2', 'approver'],
    ['admin', 'admin'],
    ['auditor', 'auditor'],
  ]);
  const console = createPool(database.urlFor('console'), { max: 1, applicationName: 'test' });
  const db = queriesOf(console);
  for (const { token } of first.people) expect(await takeLoginLink(db, token)).toBeNull();
  for (const { login, role, token } of second.people) {
    const { rows } = await owner.query('select id, roles from sverka."user" where login = $1', [login]);
    expect(rows).toEqual([{ id: await takeLoginLink(db, token), roles: [role.replace('merchant ', '')] }]);
  }
  await console.end();
});

it('somebody who was disabled gets no link', async () => {
  await seed(database.url);
  await owner.query(`update sverka."user" set disabled_at = now() where login = 'operator'`);
  const people = (await seed(database.url)).people.map(({ login }) => login);
  expect([people.includes('operator'), people.includes('admin')]).toEqual([false, true]);
});
