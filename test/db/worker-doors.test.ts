import type pg from 'pg';
import { buryRow, decideDeadLetter } from '../../src/db/dead-letters.js';
import { closeDecision } from '../../src/db/decisions.js';
import { insertEvents, type NewEvent } from '../../src/db/events.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction, queriesOf, type Tx } from '../../src/db/transaction.js';
import { decideAs, makePerson } from '../support/decisions.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { depositOf, expectDepositInvariants } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { makeMerchant } from '../support/gateway.js';

let world: DepositWorld;
let console: pg.Pool;
let userId: string;
let deposit: { id: string; version: number };

beforeAll(async () => {
  world = await openDepositWorld();
  console = createPool(world.database.urlFor('console'), { max: 1, applicationName: 'test' });
  userId = await makePerson(world.owner, 'operator');
  const ref = await world.arrive(await world.address(), { amount: '5' });
  await world.read(ref);
  deposit = await depositOf(world.owner, ref);
});
afterEach(() => expectDepositInvariants(world.owner));
afterAll(async () => {
  await console.end();
  await world.close();
});

/** What the worker's role is answered, its work taken back in any case. */
async function tried(work: (tx: Tx) => Promise<unknown>): Promise<string> {
  const undo = new Error('undo');
  return inTransaction(world.pool, async (tx) => {
    await work(tx);
    throw undo;
  }).catch((error: unknown) => {
    if (error === undo) return 'done';
    return error instanceof Error && 'sqlstate' in error ? String(error.sqlstate) : Promise.reject(error);
  });
}

describe('an event', () => {
  const event = (of: Partial<NewEvent> = {}): NewEvent => ({
    ...{ type: 'deposit.confirming', book: 'live', merchantId: world.merchantId, subjectType: 'deposit' },
    ...{ subjectId: deposit.id, version: deposit.version + 1, data: {}, traceId: 'a'.repeat(32), ...of },
  });
  const told = (of: Partial<NewEvent>) => tried((tx) => insertEvents(tx, [event(of)]));

  it('of a state is told only with the move that the audit has, at its version', async () => {
    const { rows } = await world.owner.query<{ type: string; version: number }>(
      `select 'deposit.' || to_state as type, version from sverka.audit where subject_id = $1 order by version`,
      [deposit.id],
    );
    expect(rows.map(({ type }) => type)).toEqual(expect.arrayContaining(['deposit.confirming', 'deposit.final']));
    // Its own events are there already: what was told is refused by its key, what was not so by the door.
    for (const row of rows.slice(1)) expect([row.type, await told(row)]).toEqual([row.type, '23505']);
    expect(await told({ type: 'deposit.orphaned' })).toBe('42501');
    expect(await told({ type: 'deposit.final' })).toBe('42501');
    expect(await told({ subjectId: 'dep_nobody', type: 'deposit.noticed', version: 1 })).toBe('42501');
  });

  it('is told to nobody but the owner of its subject, in its book', async () => {
    const { id } = await makeMerchant(queriesOf(world.owner));
    const [{ version } = { version: 0 }] = (
      await world.owner.query<{ version: number }>(
        `select version from sverka.audit where subject_id = $1 and to_state = 'noticed'`,
        [deposit.id],
      )
    ).rows;
    const noticed = { type: 'deposit.noticed', version };
    expect(await told(noticed)).toBe('done');
    expect(await told({ ...noticed, merchantId: id })).toBe('42501');
    expect(await told({ ...noticed, book: 'test' })).toBe('42501');
  });

  it('of something without states of its own is told as it is', async () => {
    const receivable = { type: 'receivable.opened', subjectType: 'receivable', subjectId: 'mov_x', version: 1 };
    expect(await told(receivable)).toBe('done');
  });
});

describe('a dead letter', () => {
  it('has the book of its notification, and is moved by the worker only as a person has decided', async () => {
    await acceptDeliveries(queriesOf(world.owner), [deliveryOf('never-read')]);
    const inbox = (await world.owner.query<{ id: string }>('select id from sverka.inbox order by id desc limit 1'))
      .rows;
    const inboxId = inbox[0]?.id ?? '';
    await inTransaction(world.pool, (tx) =>
      buryRow(tx, { inboxId, reason: 'unreadable_record', attempts: 10 }, 'a'.repeat(32)),
    );
    const { rows } = await world.owner.query<{ id: string; book: string }>(
      'select id, book from sverka.dead_letter where inbox_id = $1',
      [inboxId],
    );
    const { id = '', book } = rows[0] ?? {};
    expect(book).toBe('live');

    const move = (choice: 'replay' | 'abandon') => tried((tx) => decideDeadLetter(tx, id, choice));
    expect([await move('replay'), await move('abandon')]).toEqual(['42501', '42501']);
    const decision = await decideAs(console, { type: 'dead_letter', id, choice: 'abandon', userId });
    expect([await move('replay'), await move('abandon')]).toEqual(['42501', 'done']);
    await closeDecision(
      queriesOf(world.owner),
      { id: decision },
      { outcome: 'applied', detail: 'abandon', traceId: 't' },
    );
    expect(await move('abandon')).toBe('42501');
    // Once for each decision.
    const again = { outcome: 'void', detail: 'twice', traceId: 't' } as const;
    expect(await tried((tx) => closeDecision(tx, { id: decision }, again))).toBe('23505');
  });
});

it('a file of opening balances is posted only by who posted its lines', async () => {
  const hash = Buffer.alloc(32, 7);
  await queriesOf(console).query(`select sverka.request_ledger_import($1, '[{}]', 'cli', 't')`, [hash]);
  const finish = (state: string) =>
    tried((tx) => tx.query('select sverka.finish_ledger_import($1, $2, $3)', [hash, state, '[]']));
  expect(await finish('posted')).toBe('42501');
  expect(await finish('refused')).toBe('done');
});

it('without a door none of them is written: the worker’s role inserts and changes no such row by hand', async () => {
  for (const sql of [
    'insert into sverka.event default values',
    'insert into sverka.decision_outcome default values',
    'insert into sverka.dead_letter default values',
    `update sverka.dead_letter set closed_how = 'abandoned'`,
    'insert into sverka.ledger_import default values',
    `update sverka.ledger_import set state = 'posted'`,
  ]) {
    expect([sql, await tried((tx) => tx.query(sql))]).toEqual([sql, '42501']);
  }
});
