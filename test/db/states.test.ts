import type pg from 'pg';
import { newId } from '../../src/db/new-id.js';
import { CARD_MOVES } from '../../src/domain/card.js';
import { CARDHOLDER_MOVES } from '../../src/domain/cardholder.js';
import { DEPOSIT_MOVES } from '../../src/domain/deposit.js';
import { DEPOSIT_ADDRESS_MOVES } from '../../src/domain/deposit-address.js';
import { DEPOSIT_MOVES_BY_CHOICE } from '../../src/domain/deposit-decision.js';
import { ISSUANCE_MOVES } from '../../src/domain/issuance.js';
import { LOAD_MOVES } from '../../src/domain/load.js';
import { WITHDRAWAL_MOVES } from '../../src/domain/withdrawal.js';
import { decideAs, makePerson } from '../support/decisions.js';
import { depositOf, pathOf } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld } from '../support/deposit-world.js';

let world: DepositWorld;
let at: MadeAddress;

beforeAll(async () => {
  world = await openDepositWorld();
  at = await world.address();
});
afterAll(async () => {
  await world.close();
});

/** `done`, or the SQLSTATE of what the role was told. */
async function tried(pool: pg.Pool, sql: string, params: unknown[] = []): Promise<string> {
  return pool.query(sql, params).then(
    () => 'done',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

async function depositIn(status: string): Promise<{ ref: string; id: string }> {
  const ref = await world.arrive(at, { amount: '1', status });
  await world.read(ref);
  return { ref, id: (await depositOf(world.owner, ref)).id };
}

const SET = (state: string, actor = 'worker:test') => `state = '${state}', version = version + 1, actor = '${actor}'`;
const update = (id: string, set: string, pool = world.pool) =>
  tried(pool, `update sverka.deposit set ${set} where id = $1`, [id]);

describe('the table of moves', () => {
  it.each([
    ['deposit', DEPOSIT_MOVES],
    ['deposit_address', DEPOSIT_ADDRESS_MOVES],
    ['cardholder', CARDHOLDER_MOVES],
    ['card', CARD_MOVES],
    ['issuance', ISSUANCE_MOVES],
    ['load', LOAD_MOVES],
    ['withdrawal', WITHDRAWAL_MOVES],
  ] as const)('of a %s is the same in the code and in the database', async (subject, moves) => {
    const { rows } = await world.owner.query(
      'select from_state as "from", to_state as "to", by_decision as "byDecision" from sverka.state_move where subject_type = $1',
      [subject],
    );
    const words = (move: { from: string | null; to: string; byDecision?: boolean }) =>
      `${move.from} > ${move.to}${move.byDecision ? ' by decision' : ''}`;
    expect(rows.map(words).sort()).toEqual(moves.map(words).sort());
  });

  it('of a decision, by its choice, is the same in the code and in the database', async () => {
    const { rows } = await world.owner.query(
      `select choice, from_state as "from", to_state as "to" from sverka.decision_move where subject_type = 'deposit'`,
    );
    const words = (move: { choice: string; from: string; to: string }) => `${move.choice}: ${move.from} > ${move.to}`;
    expect(rows.map(words).sort()).toEqual(DEPOSIT_MOVES_BY_CHOICE.map(words).sort());
  });

  it('may be changed by nobody who works', async () => {
    for (const sql of [
      `insert into sverka.decision_move values ('deposit', 'accept', 'parked', 'credited')`,
      `insert into sverka.state_move values ('deposit', 'final', 'noticed', false)`,
      `update sverka.state_move set by_decision = false`,
      `delete from sverka.state_move`,
    ]) {
      expect(await tried(world.pool, sql)).toBe('42501');
    }
  });
});

describe('a deposit', () => {
  it('makes the legal moves and refuses every other, whoever asks', async () => {
    const states = [...new Set(DEPOSIT_MOVES.map((move) => move.to))];
    const made = {
      noticed: 'mystery',
      confirming: 'seen',
      rejected: 'failed',
      dropped: 'replaced',
      final: 'completed',
    };
    for (const [from, status] of Object.entries(made)) {
      const { id } = await depositIn(status);
      for (const to of states.filter((state) => state !== from)) {
        const legal = DEPOSIT_MOVES.find((move) => move.from === from && move.to === to);
        if (legal && !legal.byDecision) continue;
        expect([from, to, await update(id, SET(to))]).toEqual([from, to, legal ? '42501' : '23514']);
        expect([from, to, await update(id, SET(to), world.owner)]).toEqual([from, to, legal ? '42501' : '23514']);
      }
      expect(
        (
          await depositOf(
            world.owner,
            (
              await world.owner.query('select provider_ref as ref from sverka.deposit where id = $1', [id])
            ).rows[0]?.ref,
          )
        ).state,
      ).toBe(from);
    }
  });

  it('is not born in another state than noticed', async () => {
    const { id } = await depositIn('seen');
    const birth = (state: string) =>
      tried(
        world.pool,
        `insert into sverka.deposit (id, book, merchant_id, customer_id, deposit_address_id, network, provider,
           provider_account, provider_ref, provider_status, reported_text, reported_amount, reported_asset,
           settlement_mode, last_read_at, state, actor, credited_amount, credited_asset)
         select $2, book, merchant_id, customer_id, deposit_address_id, network, provider, provider_account, $2,
           provider_status, reported_text, reported_amount, reported_asset, settlement_mode, last_read_at, $3, actor, 1, 'EUR'
           from sverka.deposit where id = $1`,
        [id, newId('deposit'), state],
      );
    expect(await birth('final')).toBe('23514');
    expect(await birth('confirming')).toBe('23514');
    expect(await birth('noticed')).toBe('done');
  });

  it.each([
    ['a move without a new version', `state = 'dropped', actor = 'worker:test'`],
    ['a skipped version', `state = 'dropped', version = version + 2, actor = 'worker:test'`],
    ['an older version', `version = version - 1`],
    ['another merchant', `merchant_id = (select id from sverka.merchant where id <> merchant_id)`],
    ['another customer', `customer_id = (select id from sverka.customer limit 1)`],
    ['another address', `deposit_address_id = (select id from sverka.deposit_address where id <> deposit_address_id)`],
    ['another book', `book = 'test'`],
    ['another birth', `created_at = now()`],
    ['another name at the provider', `provider_ref = 'cdp_other'`],
    ['no money in the wallet’s state', `credited_amount = 'NaN'`],
  ])('refuses %s', async (_name, set) => {
    const { ref, id } = await depositIn('seen');
    await world.owner.query(
      `insert into sverka.merchant (id, name) values ('mer_' || repeat('0', 26), 'Other') on conflict do nothing`,
    );
    await world.address({ customerRef: 'other' });
    const before = await depositOf(world.owner, ref);
    expect(await update(id, set)).toMatch(/^(23|42501)/);
    expect(await depositOf(world.owner, ref)).toEqual(before);
  });

  it('makes a move of a person only for a person, and writes it down', async () => {
    const { ref, id } = await depositIn('completed');
    expect(await update(id, SET('orphaned'))).toBe('42501');
    const userId = await makePerson(world.owner, 'operator');
    const asUser = SET('orphaned', `user:${userId}`);
    // Nobody becomes a person by saying so: the row of the decision has to be there.
    expect(await update(id, asUser)).toBe('42501');
    await decideAs(world.owner, { type: 'deposit', id, choice: 'orphan', userId });
    expect(await update(id, SET('orphaned', 'user:usr_1'))).toBe('42501');
    expect(await update(id, asUser)).toBe('done');
    expect(await pathOf(world.owner, id)).toEqual(['noticed', 'confirming', 'credited', 'final', 'orphaned']);
    const { rows } = await world.owner.query(
      'select actor, from_state, version from sverka.audit where subject_id = $1 order by id desc limit 1',
      [id],
    );
    expect(rows).toEqual([{ actor: `user:${userId}`, from_state: 'final', version: 5 }]);
    expect((await depositOf(world.owner, ref)).state).toBe('orphaned');
  });

  it('makes no other move for a decision than that of its choice, and none for a closed one', async () => {
    const ref = await world.arrive(at, { amount: '1.0000000001' });
    await world.read(ref);
    const { id, state } = await depositOf(world.owner, ref);
    expect(state).toBe('parked');
    const userId = await makePerson(world.owner, 'chooser');
    const asUser = (to: string) => SET(to, `user:${userId}`);
    const decision = await decideAs(world.owner, { type: 'deposit', id, choice: 'reject', userId });
    for (const to of ['confirming', 'noticed', 'credited', 'final', 'orphaned', 'dropped']) {
      expect([to, await update(id, asUser(to))]).toEqual([to, '42501']);
    }
    const outcome = `select sverka.close_decision($1, 'void', 'test', null)`;
    expect(await tried(world.pool, outcome, [decision])).toBe('done');
    expect(await update(id, asUser('rejected'))).toBe('42501');
    // An acceptance leaves the books as they are: it moves nothing.
    const accepted = await decideAs(world.owner, { type: 'deposit', id, choice: 'accept', userId });
    expect(await update(id, asUser('rejected'))).toBe('42501');
    expect(await tried(world.pool, outcome, [accepted])).toBe('done');
    await decideAs(world.owner, { type: 'deposit', id, choice: 'reject', userId });
    expect(await update(id, asUser('rejected'))).toBe('done');
  });

  it('leaves no audit row when its transaction does not commit, and one when it does', async () => {
    const { id } = await depositIn('seen');
    await world.owner.query(`begin; update sverka.deposit set ${SET('dropped')} where id = '${id}'; rollback`);
    expect(await pathOf(world.owner, id)).toEqual(['noticed', 'confirming']);
    await update(id, SET('dropped'));
    expect(await pathOf(world.owner, id)).toEqual(['noticed', 'confirming', 'dropped']);
  });

  it('without the trigger would move anywhere: what is tested here is the trigger', async () => {
    const { id } = await depositIn('failed');
    await world.owner.query('alter table sverka.deposit disable trigger guard_move');
    expect(await update(id, SET('confirming'))).toBe('done');
    await world.owner.query('alter table sverka.deposit enable always trigger guard_move');
    expect(await update(id, SET('credited'))).toBe('23514');
  });
});

describe('what is written down', () => {
  it.each(['audit', 'event', 'request', 'decision', 'movement_seal', 'event_seal', 'audit_seal'])(
    '%s refuses UPDATE, DELETE and TRUNCATE, to a superuser too',
    async (table) => {
      const { rows } = await world.owner.query<{ column: string }>(
        `select attname as column from pg_attribute where attrelid = ('sverka.' || $1)::regclass and attnum = 2`,
        [table],
      );
      const column = rows[0]?.column ?? '';
      for (const pool of [world.pool, world.owner]) {
        for (const sql of [
          `update sverka.${table} set ${column} = ${column}`,
          `delete from sverka.${table}`,
          `truncate sverka.${table} cascade`,
        ]) {
          expect([sql, await tried(pool, sql)]).toEqual([sql, '42501']);
        }
        const replica = `set session_replication_role = replica; delete from sverka.${table}`;
        expect(await tried(pool, replica)).toBe('42501');
      }
      await world.owner.query('set session_replication_role = default');
    },
  );

  it.each(['deposit', 'deposit_address'])('%s keeps every row', async (table) => {
    for (const pool of [world.pool, world.owner]) {
      expect(await tried(pool, `delete from sverka.${table}`)).toBe('42501');
      expect(await tried(pool, `truncate sverka.${table} cascade`)).toBe('42501');
    }
  });

  it('an address keeps its owner and its terms, and once known its place', async () => {
    await world.address({ customerRef: 'elsewhere' });
    for (const set of [
      `customer_id = (select id from sverka.customer limit 1)`,
      `settlement_mode = 'settled', settlement_asset = 'EUR'`,
      `network = 'ethereum'`,
      `asset = 'ETH'`,
      `address = 'TAnother'`,
      `tag = '1'`,
    ]) {
      expect([set, await tried(world.pool, `update sverka.deposit_address set ${set} where id = $1`, [at.id])]).toEqual(
        [set, '23514'],
      );
    }
  });

  it('an audit row and a decision can be written by no role by hand', async () => {
    const audit = `insert into sverka.audit (book, subject_type, subject_id, to_state, version, actor)
      values ('live', 'deposit', 'dep_x', 'final', 1, 'worker:test')`;
    expect(await tried(world.pool, audit)).toBe('42501');
    const decision = `insert into sverka.decision (id, subject_type, subject_id, stage, choice, seen_hash, user_id, reason)
      values ('dec_' || repeat('0', 26), 'deposit', 'dep_x', 'one', 'credit', sha256('x'), 'usr_x', 'because')`;
    expect(await tried(world.pool, decision)).toBe('42501');
  });

  it('an event is written once per type, subject and version', async () => {
    const { id } = await depositIn('completed');
    const again = `select sverka.tell_events(array[$2], array[type], array[book], array[merchant_id],
        array[subject_type], array[subject_id], array[version], array[data], array[trace_id])
      from sverka.event where subject_id = $1 and type = 'deposit.final'`;
    expect(await tried(world.pool, again, [id, newId('event')])).toBe('23505');
  });
});
