import { createCheckActivities } from '../../src/activities/checks.js';
import { createIssuanceActivities, type IssuanceActivities } from '../../src/activities/issuances.js';
import type { IssuanceInput } from '../../src/contracts/messages.js';
import { createPool } from '../../src/db/pool.js';
import { seal } from '../../src/db/seal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { openAlerts } from '../support/deposit-facts.js';
import { issuanceInput, issuanceOf, makeBuyer } from '../support/issuance-rows.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
let activities: IssuanceActivities;
let waiting: IssuanceInput;

beforeEach(async () => {
  world = await openWorkerWorld({ settings: { SVERKA_STUCK_AGE: '1h' } });
  activities = createIssuanceActivities(world.deps);
  const buyer = await makeBuyer(world);
  await issue(issuanceInput(buyer, 'active'));
  await issue(issuanceInput(await makeBuyer(world, { document: 'DECLINE:fraud' }), 'failed'));
  waiting = issuanceInput(buyer, 'waiting', { product: 'async' });
  await issue(waiting);
  await issue(issuanceInput(buyer, 'for nothing', { load: '0' }));
  await sealAll();
});
afterEach(() => world.close());

/** What the workflow does, up to the answer of the create. */
async function issue(input: IssuanceInput): Promise<void> {
  const { issuanceId } = await activities.databaseReserveIssuance(input);
  const of = { id: issuanceId ?? 'none', traceId: input.traceId, runId: 'run' };
  await activities.databaseSubmitIssuance(of);
  await activities.providerCreateIssuance({ ...of, tries: 0 });
}

async function sealAll(): Promise<void> {
  await eventually(async () => {
    await seal(queriesOf(world.deps.pool), 1_000);
    const left =
      'select from sverka.audit a where not exists (select from sverka.audit_seal s where s.audit_id = a.id)';
    return (await world.owner.query(left)).rowCount === 0;
  });
}

/** As the console's role, which the command line uses. */
async function findings(): Promise<string[]> {
  const console_ = createPool(world.database.urlFor('console'), { max: 1, applicationName: 'test' });
  try {
    const { findings: found } = await verifyLedger(console_, 'all', { subjects: true });
    return [...new Set(found.map(({ kind }) => kind))].toSorted();
  } finally {
    await console_.end();
  }
}

/** What nobody can do in production: every trigger off, and a row altered behind the back of all rules. */
async function behindTheBack(...statements: string[]): Promise<void> {
  const client = await world.owner.connect();
  try {
    await client.query("set session_replication_role = 'replica'");
    for (const table of ['sverka.issuance', 'sverka.card', 'sverka.cardholder', 'ledger.entry', 'ledger.movement']) {
      await client.query(`alter table ${table} disable trigger all`);
    }
    for (const sql of statements) expect((await client.query(sql)).rowCount).toBeGreaterThan(0);
  } finally {
    client.release(true);
  }
}

test('an issuance, its card, their movements, their states and their audit agree', async () => {
  const { rows } = await world.owner.query('select state, load_amount::int from sverka.issuance order by id');
  expect(rows.map(({ state }) => state)).toEqual(['active', 'failed', 'pending', 'active']);
  expect(await findings()).toEqual([]);
  await expectMoneyInvariants(world.owner);
});

const of = (state: string) => `(select id from sverka.issuance where state = '${state}' and load_amount > 0 limit 1)`;
const movementOf = (state: string, kind: string) =>
  `(select id from ledger.movement where kind = 'issuance_${kind}' and subject_id = ${of(state)})`;

test.each([
  [
    'the load of a settled one',
    [`update sverka.issuance set load_amount = load_amount + 1 where id = ${of('active')}`],
    ['issuance_not_booked', 'movement_without_issuance'],
  ],
  [
    'the fee of a waiting one',
    [`update sverka.issuance set fee_amount = fee_amount + 1 where id = ${of('pending')}`],
    ['issuance_not_booked', 'movement_without_issuance'],
  ],
  [
    'the merchant of one',
    [
      `insert into sverka.merchant (id, name) values ('mer_${'0'.repeat(26)}', 'x')`,
      `update sverka.issuance set merchant_id = 'mer_${'0'.repeat(26)}' where id = ${of('failed')}`,
    ],
    ['issuance_not_booked', 'movement_without_issuance'],
  ],
  [
    'the card of a settled one',
    [
      `update sverka.issuance set card_id = (select card_id from sverka.issuance where state = 'failed'), generation = 1
        where id = ${of('active')}`,
    ],
    ['card_without_issuance', 'issuance_not_booked', 'movement_without_issuance'],
  ],
  [
    'a settle that is gone',
    [
      `delete from ledger.entry where movement_id = ${movementOf('active', 'settle')}`,
      `delete from ledger.movement where id = ${movementOf('active', 'settle')}`,
    ],
    ['issuance_not_booked'],
  ],
  [
    'a settle that calls itself a hold',
    [`update ledger.movement set kind = 'issuance_hold' where id = ${movementOf('active', 'settle')}`],
    ['issuance_not_booked', 'movement_without_issuance'],
  ],
  [
    'another movement on the hold of one that waits',
    [
      `update ledger.movement set kind = 'transfer', subject_type = 'transfer', subject_id = 'x'
        where id = ${movementOf('pending', 'hold')}`,
    ],
    ['issuance_not_booked', 'movement_without_issuance'],
  ],
  [
    'a release for one that was settled',
    [`update sverka.issuance set state = 'failed' where id = ${of('active')}`],
    ['card_without_issuance', 'issuance_not_booked', 'movement_without_issuance', 'state_without_audit'],
  ],
  [
    'a waiting one that says it is settled',
    [`update sverka.issuance set state = 'active', provider_ref = 'icd_x' where id = ${of('pending')}`],
    ['card_without_issuance', 'issuance_not_booked', 'state_without_audit'],
  ],
  [
    'which card at the issuer one is',
    [
      `update sverka.card set provider_ref = 'icd_other' where id = (select card_id from sverka.issuance where id = ${of('active')})`,
    ],
    ['card_without_issuance'],
  ],
  [
    'the state of a card that nothing walked to',
    [`update sverka.card set state = 'frozen' where state = 'active'`],
    ['state_without_audit'],
  ],
  [
    'the state of a cardholder that nothing walked to',
    [`update sverka.cardholder set state = 'erased', first_initial = null, last_initial = null`],
    ['state_without_audit'],
  ],
])('%s, altered as superuser, is named', async (_, statements, kinds) => {
  await behindTheBack(...statements);
  const own = ['issuance', 'card_without', 'movement_without', 'state_without'];
  expect((await findings()).filter((kind) => own.some((name) => kind.startsWith(name)))).toEqual(kinds);
});

test('an issuance that waits for longer than the bound is stuck, and one that is unknown says what to do', async () => {
  const look = () => createCheckActivities(world.deps).databaseWatchHealth({ traceId: 'b'.repeat(32) });
  const { id } = await issuanceOf(world, waiting);
  await look();
  expect(await openAlerts(world.owner)).toEqual([]);
  await behindTheBack(`update sverka.issuance set created_at = created_at - interval '2 hours'`);
  await look();
  expect(await openAlerts(world.owner)).toEqual([`stuck health:stuck:${id}`]);
  await behindTheBack(`update sverka.issuance set state = 'unknown' where id = '${id}'`);
  await look();
  const { rows } = await world.owner.query(`select detail from sverka.alert where key = 'health:stuck:${id}'`);
  expect(rows[0].detail).toMatch(/unknown with its money held; .*issuances decide/);
  await behindTheBack(`update sverka.issuance set state = 'failed' where id = '${id}'`);
  await look();
  expect(await openAlerts(world.owner)).toEqual([]);
});
