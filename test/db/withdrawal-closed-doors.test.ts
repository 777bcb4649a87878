import type pg from 'pg';
import { decisionStage } from '../../src/db/decisions.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { ROUTES } from '../../src/http/gateway/routes.js';
import { makeKey, newKey, openTestGateway, type TestGateway } from '../support/gateway.js';
import { balanceOf } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { ADDRESS, ASSET, openWithdrawing, seenWithdrawal, type Withdrawing } from '../support/withdrawal-rows.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

let gateway: TestGateway;
let it: Withdrawing;
let id: string;
let key: string;
beforeAll(async () => {
  gateway = await openTestGateway();
  it = await openWithdrawing(gateway.database);
  id = await it.request();
  key = newKey('live');
  await makeKey(gateway.tx, { merchantId: it.merchantId, book: 'live', access: 'full', key });
});
afterAll(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
  await gateway.close();
});

/** All that a withdrawal can leave behind, and what the wallet has. */
async function everything(): Promise<unknown> {
  const { rows } = await it.owner.query(
    `select (select json_agg((w.id, w.state, w.version) order by w.id) from sverka.withdrawal w) as withdrawals,
       (select count(*)::int from sverka.decision) as decisions,
       (select count(*)::int from sverka.withdrawal_destination) as destinations,
       (select count(*)::int from sverka.withdrawal_proof) as proofs,
       (select json_agg((o.network, o.fee_amount)) from sverka.withdrawal_offer o) as offers`,
  );
  return [rows, String(await balanceOf(it.owner, it.purse.wallet))];
}

describe('a merchant’s key', () => {
  test('finds no door: no route names a withdrawal, and no path that somebody might guess is there', async () => {
    const before = await everything();
    expect(ROUTES.filter(({ path }) => /withdraw|payout|destination|approv|decision/i.test(path))).toEqual([]);
    const names = ['withdrawals', 'withdrawal', 'payouts', 'payout', 'transfers', 'decisions', 'destinations'];
    const paths = names.flatMap((name) => [`/v1/${name}`, `/v1/${name}/${id}`, `/${name}`, `/v2/${name}`]);
    const acts = ['approve', 'decisions', 'complete', 'submit', 'pay'].map((act) => `/v1/withdrawals/${id}/${act}`);
    const pages = ['/operator', '/cabinet'].flatMap((at) => [
      ...[at, `${at}/withdrawals`, `${at}/withdrawals/${id}/decisions`],
    ]);
    const body = {
      amount: { amount: '10.00', asset: ASSET },
      destination: ADDRESS,
      network: 'tron',
      choice: 'approve',
    };
    const answered = new Set<number>();
    for (const path of [...paths, ...acts, ...pages]) {
      for (const method of METHODS) {
        const sent = method === 'GET' ? {} : { body };
        const { status } = await gateway.call(method, path, { key, ...sent });
        answered.add(status);
      }
    }
    expect([...answered]).toEqual([404]);
    expect(await everything()).toEqual(before);
  });

  test('changes none through a route that is there, whatever is put into it', async () => {
    const before = await everything();
    const bodies = [
      { withdrawal_id: id, choice: 'approve', state: 'approved', amount: { amount: '10.00', asset: ASSET } },
      { type: 'withdrawal', destination: ADDRESS, network: 'tron', asset: ASSET, customer_ref: id },
    ];
    let called = 0;
    for (const { method, path } of ROUTES) {
      const named = path.replaceAll(/\{[a-z_]+\}|:[a-z_]+/g, id);
      for (const body of bodies) {
        const headers = { 'idempotency-key': `guess-${called}` };
        const { status } = await gateway.call(method, named, { key, headers, ...(method === 'GET' ? {} : { body }) });
        // Not taken, or nothing of ours: a route that reads answers as ever.
        expect([method, path, status < 500 || status === 503]).toEqual([method, path, true]);
        called += 1;
      }
    }
    expect(called).toBe(ROUTES.length * bodies.length);
    expect(await everything()).toEqual(before);
  });
});

describe('the database role of', () => {
  const roles = ['gateway', 'relay', 'worker', 'cabinet'] as const;
  const pools = new Map<string, pg.Pool>();
  beforeAll(() => {
    for (const role of roles) {
      pools.set(role, createPool(gateway.database.urlFor(role), { max: 1, applicationName: `test-${role}` }));
    }
  });
  afterAll(async () => {
    for (const pool of pools.values()) await pool.end();
  });

  test.each(roles)('%s writes neither a request, nor a decision, nor a proof, nor the terms', async (role) => {
    const before = await everything();
    const seen = await seenWithdrawal(it.console, id);
    const stage = await decisionStage(queriesOf(it.console), { type: 'withdrawal', id });
    const attempts: readonly (readonly [string, readonly unknown[]])[] = [
      [
        `insert into sverka.decision (id, subject_type, subject_id, stage, choice, seen_hash, user_id, reason)
           values ($1, 'withdrawal', $2, $3, 'approve', $4, $5, 'mine')`,
        [newId('decision'), id, stage, seen, it.approver],
      ],
      [`update sverka.withdrawal set state = 'approved', route = 'custody' where id = $1`, [id]],
      [`insert into sverka.withdrawal select (w).* from sverka.withdrawal w where w.id = $1`, [id]],
      [`update sverka."user" set roles = array['approver'] where id = $1`, [it.requester]],
      ['select sverka.set_user_roles($1, $2)', [it.operator, ['approver']]],
      ['select sverka.create_user($1, $2, null, $3)', [newId('user'), 'ghost', ['approver']]],
      ['select sverka.add_withdrawal_proof($1, $2, $3, null, null, null)', [id, it.operator, 'a'.repeat(64)]],
      [`select sverka.set_withdrawal_offer('live', 'tron', $1, 0, 1, 1, '{custody}', 'me')`, [ASSET]],
      ['select sverka.post_withdrawal(w, null, $2) from sverka.withdrawal w where w.id = $1', [id, ['settle']]],
      ['update ledger.entry set amount = 0', []],
    ];
    for (const [sql, params] of attempts) {
      const said = await pools
        .get(role)
        ?.query(sql, [...params])
        .then(
          () => 'it went through',
          (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
        );
      // No right to it, or (a function that nobody may call has no such form) nothing of that name.
      expect([sql, ['42501', '42883'].includes(String(said)) ? 'refused' : said]).toEqual([sql, 'refused']);
    }
    expect(await everything()).toEqual(before);
  });

  test('the worker, with its own functions, moves none that nobody has approved', async () => {
    const before = await everything();
    const worker = pools.get('worker');
    const trace = 'f'.repeat(32);
    const { rows } = await it.owner.query<{ name: string; args: string }>(
      `select p.proname as name, pg_get_function_arguments(p.oid) as args from pg_proc p
         join pg_namespace n on n.oid = p.pronamespace
        where n.nspname = 'sverka' and p.proname like '%withdrawal%'
          and has_function_privilege('sverka_worker', p.oid, 'execute')`,
    );
    const names = rows.map(({ name }) => name).sort();
    // A function that is new here has to be tried here, too.
    expect(names).toEqual([
      ...['apply_withdrawal_decision', 'apply_withdrawal_payout', 'claim_withdrawals', 'expire_withdrawal'],
      ...['remind_of_withdrawal', 'submit_withdrawal', 'suspect_withdrawal'],
    ]);
    const plausible = {
      text: `'${trace}'`,
      bigint: '9000000000000000',
      jsonb: `'{"status":"completed"}'`,
      boolean: 'false',
    };
    for (const { name, args } of rows.filter((each) => each.name !== 'claim_withdrawals')) {
      const [, ...types] = args.split(', ').map((argument) => argument.split(' ')[1] ?? '');
      const rest = types.map((type) => Object.entries(plausible).find(([of]) => of === type)?.[1] ?? 'null');
      const call = `select sverka.${name}('${id}'${rest.map((each) => `, ${each}`).join('')})`;
      await worker?.query(call).catch((error: unknown) => {
        // A function that cannot be called like this would not have been tried.
        expect([call, error instanceof Error && 'code' in error ? error.code : error]).toEqual([call, 'P0001']);
      });
    }
    expect(await everything()).toEqual(before);
  });
});
