import { findIlls } from '../../src/db/health.js';
import { createPool } from '../../src/db/pool.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { type CardWorld, type IssuedCard, openCardWorld } from '../support/card-world.js';
import type { RunningWorker } from '../support/worker-world.js';

let it: CardWorld;
let worker: RunningWorker;
let open: IssuedCard;
beforeAll(async () => {
  it = await openCardWorld();
  worker = await it.world.startWorker();
  open = await it.issued('open');
  await it.load(open, 'loaded', { prefer: 'wait=10' });
  await it.fault(open, 'loads', { fault: 'status', status: 422, times: 1 });
  await it.load(open, 'declined', { prefer: 'wait=10' });
  const closed = await it.issued('closed');
  await it.change(closed, 'close', { key: 'close', prefer: 'wait=10' });
  await it.settled(closed.id);
});
afterAll(async () => {
  await worker.stop();
  await it.close();
});

/** As the console's role, which the command line uses; what has no number yet is not looked at here. */
async function findings(): Promise<string[]> {
  const console_ = createPool(it.world.database.urlFor('console'), { max: 1, applicationName: 'test' });
  try {
    const { findings: found } = await verifyLedger(console_, 'all', { subjects: true });
    return [...new Set(found.map(({ kind }) => kind))].toSorted();
  } finally {
    await console_.end();
  }
}

/** What nobody can do in production: every trigger off, and rows altered behind the back of all rules. */
async function behindTheBack(sql: string): Promise<void> {
  const client = await it.world.owner.connect();
  try {
    for (const table of ['sverka.card_load', 'sverka.card_change', 'ledger.entry', 'ledger.movement']) {
      await client.query(`alter table ${table} disable trigger all`);
    }
    expect((await client.query(sql)).rowCount).toBeGreaterThan(0);
  } finally {
    client.release();
  }
}

/** `done`, or the SQLSTATE of what the worker's role was told. */
function tried(sql: string, params: unknown[] = []): Promise<string> {
  return it.world.deps.pool.query(sql, params).then(
    () => 'done',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

describe('the database', () => {
  test('takes no load of a card that is not active, nor of another merchant', async () => {
    const insert = `insert into sverka.card_load (id, book, merchant_id, card_id, asset, amount, provider,
        provider_account, movement_ids, workflow_id, actor, state)
      select 'load_' || repeat('0', 26), c.book, $2, c.id, c.asset, 1, c.provider, c.provider_account, '{mov_1}', 'w',
        'test', 'reserved' from sverka.card c where c.state = $1`;
    const other = `mer_${'0'.repeat(26)}`;
    await it.world.owner.query(`insert into sverka.merchant (id, name) values ($1, 'x')`, [other]);
    expect(await tried(insert, ['closed', it.merchant.id])).toBe('23514');
    expect(await tried(insert, ['active', other])).toBe('23514');
  });

  test.each([
    ['another amount of a load', 'update sverka.card_load set amount = 1'],
    [
      'another card of a load',
      `update sverka.card_load set card_id = (select id from sverka.card where state = 'closed')`,
    ],
    ['a load that begins anew', `update sverka.card_load set state = 'submitted', version = version + 1`],
    ['another word for a change', `update sverka.card_change set kind = 'freeze'`],
    ['a change that is not done after all', 'update sverka.card_change set outcome = null, done_at = null'],
    ['a load that is gone', 'delete from sverka.card_load'],
    ['a change that is gone', 'delete from sverka.card_change'],
    ['a change made by the worker', `insert into sverka.card_change select * from sverka.card_change`],
  ])('refuses %s', async (_, sql) => {
    expect(await tried(sql)).toMatch(/^(23514|42501)$/);
  });

  test('lets the issuer hear of one change at a time, in order', async () => {
    const { owner } = it.world;
    const request = (n: number, kind: string, version: number) =>
      owner.query(`select sverka.request_card_change($1, 'live', $2, $3, $4, '{}', $5, $5, 'POST', '/', $6, null)`, [
        open.id,
        it.merchant.id,
        kind,
        version,
        `req_${String(n).padStart(26, '0')}`,
        Buffer.alloc(32),
      ]);
    const { version } = await it.card(open.id);
    await request(1, 'freeze', version);
    const submit = (number: number) =>
      tried('update sverka.card_change set submitted_at = clock_timestamp() where card_id = $1 and number = $2', [
        open.id,
        number,
      ]);
    expect(await submit(1)).toBe('done');
    await request(2, 'unfreeze', version + 1);
    expect(await submit(2)).toBe('23514');
    const ills = await findIlls(it.world.tx, { stuckMs: 1, pendingMs: 3_600_000 });
    expect(ills.filter(({ subjectId }) => subjectId === open.id).map(({ kind }) => kind)).toEqual(['stuck', 'stuck']);
    await owner.query(
      `update sverka.card_change set outcome = 'confirmed', done_at = clock_timestamp()
       where card_id = $1 and number = 1`,
      [open.id],
    );
    expect(await submit(2)).toBe('done');
  });
});

describe('what is on cards', () => {
  test('is what their issuances and loads say', async () => {
    expect(await it.eventsOf(open.id)).toEqual(['card.active', 'card.frozen', 'card.unfrozen']);
    const { rows } = await it.world.owner.query('select state from sverka.card_load order by id');
    expect(rows.map(({ state }) => state)).toEqual(['completed', 'failed']);
    expect(await findings()).toEqual([]);
  });

  test.each([
    [
      'an amount of a completed load',
      `update sverka.card_load set amount = amount + 1 where state = 'completed'`,
      `update sverka.card_load set amount = amount - 1 where state = 'completed'`,
      ['card_differs', 'load_without_movement'],
    ],
    [
      'the amount of a failed load',
      `update sverka.card_load set amount = amount + 1 where state = 'failed'`,
      `update sverka.card_load set amount = amount - 1 where state = 'failed'`,
      ['load_not_released'],
    ],
    [
      'a completed load that says it failed',
      `update sverka.card_load set state = 'failed', reason = 'was' where state = 'completed'`,
      `update sverka.card_load set state = 'completed', reason = null where reason = 'was'`,
      ['card_differs', 'load_not_released', 'movement_without_load', 'state_without_audit'],
    ],
    [
      'a confirmed close that says it is not',
      `update sverka.card_change set outcome = 'superseded' where kind = 'close'`,
      `update sverka.card_change set outcome = 'confirmed' where kind = 'close'`,
      ['return_without_close'],
    ],
    [
      'a confirmed close of a card that holds money',
      `insert into sverka.card_change (card_id, number, book, merchant_id, kind, request_id, submitted_at, outcome,
         done_at)
       select c.id, 9, c.book, c.merchant_id, 'close', r.id, now(), 'confirmed', now() from sverka.card c
         join sverka.request r on r.key = 'loaded' where c.state <> 'closed'`,
      'delete from sverka.card_change where number = 9',
      ['closed_card_holds'],
    ],
  ])('%s, altered as superuser, is named', async (_, alter, undo, kinds) => {
    await behindTheBack(alter);
    const found = await findings();
    await behindTheBack(undo);
    expect(found).toEqual(kinds);
    expect(await findings()).toEqual([]);
  });
});
