import type pg from 'pg';
import { Refused, UniqueViolation } from '../../src/db/errors.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { type Decided, decideAs, makePerson } from '../support/decisions.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
let console: pg.Pool;
let operator: string;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  console = createPool(database.urlFor('console'), { max: 4, applicationName: 'test' });
  operator = await makePerson(owner, 'operator');
});
afterAll(async () => {
  await Promise.all([owner.end(), console.end()]);
  await database.close();
});

/** A decision on something that nobody looks for here. */
const decision = (of: Partial<Decided> = {}): Decided => ({
  ...{ type: 'deposit', id: newId('deposit'), choice: 'retry', userId: operator, seenHash: Buffer.alloc(32, 1) },
  ...of,
});
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof Refused ? error.sqlstate : error),
  );

it.each(['operator', 'admin'])('a person who is %s decides on deposits and dead letters', async (role) => {
  const userId = await makePerson(owner, `${role}-allowed`, [role]);
  for (const choice of ['retry', 'reject', 'orphan', 'accept', 'drop']) {
    expect(await outcomeOf(decideAs(console, decision({ userId, choice })))).toBe('done');
  }
  for (const choice of ['replay', 'abandon']) {
    const letter = decision({ userId, type: 'dead_letter', id: newId('deadLetter'), choice });
    expect(await outcomeOf(decideAs(console, letter))).toBe('done');
  }
});

describe('is refused with 42501', () => {
  it.each([['auditor'], ['approver']])('the decision of a person who is %s', async (role) => {
    const userId = await makePerson(owner, role, [role]);
    expect(await outcomeOf(decideAs(console, decision({ userId })))).toBe('42501');
  });

  it('that of a disabled person', async () => {
    const userId = await makePerson(owner, 'gone');
    expect(await outcomeOf(decideAs(console, decision({ userId })))).toBe('done');
    await owner.query('update sverka."user" set disabled_at = now() where id = $1', [userId]);
    expect(await outcomeOf(decideAs(console, decision({ userId })))).toBe('42501');
  });

  it('that of nobody', async () => {
    expect(await outcomeOf(decideAs(console, decision({ userId: newId('user') })))).toBe('42501');
  });

  it('a choice that the subject does not know', async () => {
    expect(await outcomeOf(decideAs(console, decision({ choice: 'credit' })))).toBe('42501');
    expect(await outcomeOf(decideAs(console, decision({ choice: 'replay' })))).toBe('42501');
  });

  it.each(['worker', 'gateway', 'relay', 'cabinet', 'reports'] as const)(
    'any decision by the role of %s',
    async (role) => {
      const pool = createPool(database.urlFor(role), { max: 1, applicationName: 'test' });
      try {
        expect(await outcomeOf(decideAs(pool, decision({ stage: '1' })))).toBe('42501');
      } finally {
        await pool.end();
      }
    },
  );
});

it('a stage is decided once, by whoever is first', async () => {
  const id = newId('deposit');
  const other = await makePerson(owner, 'other-operator');
  const both = await Promise.allSettled(
    [operator, other].map((userId) => decideAs(console, decision({ id, userId, stage: '1' }))),
  );
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = both.find((each) => each.status === 'rejected');
  expect(refused?.status === 'rejected' && refused.reason).toBeInstanceOf(UniqueViolation);
  expect(await outcomeOf(decideAs(console, decision({ id, stage: '2' })))).toBe('done');
});

it('a decision, and what came of it, is never changed', async () => {
  const id = await decideAs(console, decision());
  await owner.query(
    `insert into sverka.decision_outcome (decision_id, outcome, detail) values ($1, 'applied', 'retry')`,
    [id],
  );
  for (const table of ['decision', 'decision_outcome']) {
    for (const sql of [`update sverka.${table} set trace_id = null`, `delete from sverka.${table}`]) {
      await expect(owner.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
  }
});

it('without the trigger an auditor would decide: that is what is tested here', async () => {
  const other = await openTestDatabase();
  const superuser = createPool(other.url, { max: 1, applicationName: 'test' });
  const unguarded = createPool(other.urlFor('console'), { max: 1, applicationName: 'test' });
  try {
    await superuser.query('alter table sverka.decision disable trigger guard_decision');
    const userId = await makePerson(superuser, 'auditor', ['auditor']);
    expect(await outcomeOf(decideAs(unguarded, decision({ userId })))).toBe('done');
  } finally {
    await Promise.all([superuser.end(), unguarded.end()]);
    await other.close();
  }
});
