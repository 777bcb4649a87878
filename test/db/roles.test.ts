import pg from 'pg';
import { withClient } from '../../src/local/postgres.js';
import { openTestDatabase, type TestDatabase, type TestRole } from '../support/test-database.js';

const ROLES = ['worker', 'gateway', 'relay', 'console', 'cabinet', 'reports', 'simulators'] as const;

/** Letters of what a role may do with a table or view: r read, i insert, u update, d delete. */
type Rights = Partial<Record<TestRole, string>>;

/**
 * DESIGN 4, table by table; whatever is not named here is refused. Nobody changes a row of the journal, of the audit or
 * of a request, nobody deletes but the edges their own counts of calls, and money moves through functions alone.
 */
const TABLES: Readonly<Record<string, Rights>> = {
  'ledger.account': { worker: 'r', gateway: 'r', console: 'r', cabinet: 'r' },
  'ledger.account_balance': { worker: 'r', gateway: 'r', console: 'r', cabinet: 'r' },
  'ledger.asset': { worker: 'r', gateway: 'r', console: 'r' },
  'ledger.entry': { worker: 'r', gateway: 'r', console: 'r', cabinet: 'r' },
  'ledger.movement': { worker: 'r', gateway: 'r', console: 'r', cabinet: 'r' },
  'ledger.verified': { worker: 'r', console: 'r' },
  'sverka.alert': { worker: 'r', console: 'r' },
  'sverka.api_key': { worker: 'r', gateway: 'r', console: 'r' },
  'sverka.audit': { worker: 'r', console: 'r' },
  'sverka.audit_seal': { worker: 'r', console: 'r' },
  'sverka.breaker': { worker: 'r', gateway: 'r', console: 'r' },
  'sverka.card': { worker: 'riu', gateway: 'r', console: 'r', cabinet: 'r' },
  'sverka.card_change': { worker: 'ru', gateway: 'r', console: 'r', cabinet: 'r' },
  'sverka.card_fee': { worker: 'r', gateway: 'r', console: 'r' },
  'sverka.card_fee_change': { console: 'r' },
  'sverka.card_load': { worker: 'riu', gateway: 'r', console: 'r' },
  'sverka.cardholder': { worker: 'r', gateway: 'r', console: 'r' },
  'sverka.cardholder_key': { worker: 'r' },
  'sverka.cardholder_member': { worker: 'r' },
  'sverka.check_run': { worker: 'riu', console: 'r' },
  'sverka.customer': { worker: 'ri', gateway: 'r', console: 'r', cabinet: 'r' },
  'sverka.dead_letter': { worker: 'r', console: 'r' },
  'sverka.decision': { worker: 'r', console: 'ri' },
  'sverka.decision_move': { worker: 'r', console: 'r' },
  'sverka.decision_outcome': { worker: 'r', console: 'r' },
  'sverka.decision_right': { worker: 'r', console: 'r' },
  'sverka.deposit': { worker: 'riu', gateway: 'r', console: 'r', cabinet: 'r' },
  'sverka.deposit_address': { worker: 'riu', gateway: 'r', console: 'r', cabinet: 'r' },
  'sverka.event': { worker: 'r', console: 'r' },
  'sverka.event_seal': { worker: 'r', console: 'r' },
  'sverka.inbox': { worker: 'riu', console: 'r' },
  'sverka.inbox_conflict': { worker: 'r', console: 'r' },
  'sverka.issuance': { worker: 'riu', gateway: 'r', console: 'r', cabinet: 'r' },
  'sverka.ledger_import': { worker: 'r', console: 'r' },
  'sverka.login_link': {},
  'sverka.merchant': { worker: 'r', gateway: 'r', console: 'r' },
  'sverka.movement_seal': { worker: 'r', gateway: 'r', console: 'r' },
  'sverka.passkey': { console: 'r' },
  'sverka.passkey_challenge': {},
  'sverka.rate_limit': { gateway: 'riud', console: 'riud', cabinet: 'riud' },
  'sverka.relay_heartbeat': { worker: 'r', console: 'r' },
  'sverka.request': { worker: 'ri', gateway: 'r', console: 'r' },
  'sverka.schema_migration': {},
  'sverka.schema_version': { worker: 'r', gateway: 'r', relay: 'r', console: 'r', cabinet: 'r', reports: 'r' },
  'sverka.seal_mark': {},
  'sverka.session': {},
  'sverka.sign_in_attempt': {},
  'sverka.source': { worker: 'riu', console: 'r' },
  'sverka.state_move': { worker: 'r', console: 'r' },
  'sverka.user': { worker: 'r', console: 'r' },
  'sverka.user_identity': { console: 'r' },
  'sverka.withdrawal': { worker: 'r', console: 'r', cabinet: 'r' },
  'sverka.withdrawal_destination': { worker: 'r', console: 'r', cabinet: 'r' },
  'sverka.withdrawal_offer': { worker: 'r', console: 'r', cabinet: 'r' },
  'sverka.withdrawal_policy': { worker: 'r', console: 'r', cabinet: 'r' },
  'sverka.withdrawal_proof': { worker: 'r', console: 'r' },
  'sverka.withdrawal_terms': { worker: 'r', console: 'r', cabinet: 'r' },
};

/** Who may execute a function; nobody what only triggers and other functions call. */
const FUNCTIONS: Readonly<Record<string, readonly TestRole[]>> = {
  'ledger.mark_verified': ['worker'],
  'ledger.open_accounts': ['worker'],
  'ledger.post': ['worker'],
  'ledger.post_any_kind': [],
  'ledger.refuse_change': [],
  'sverka.add_passkey': ['console'],
  'sverka.add_withdrawal_destination': ['cabinet'],
  'sverka.add_withdrawal_proof': ['console'],
  'sverka.amount_json': [],
  'sverka.apply_withdrawal_decision': ['worker'],
  'sverka.apply_withdrawal_payout': ['worker'],
  'sverka.approval_missing': [],
  'sverka.audit_bytes': ['console', 'worker'],
  'sverka.audit_move': [],
  'sverka.begin_passkey': ['console'],
  'sverka.begin_sign_in': ['console', 'cabinet'],
  'sverka.breaker_admit': ['worker'],
  'sverka.breaker_failed': ['worker'],
  'sverka.breaker_recovered': ['worker'],
  'sverka.bury': ['worker'],
  'sverka.cancel_withdrawal': ['cabinet'],
  'sverka.claim_withdrawals': ['worker'],
  'sverka.close_applied_dead_letters': ['worker'],
  'sverka.close_decision': ['worker'],
  'sverka.create_api_key': ['console'],
  'sverka.create_cardholder': ['gateway'],
  'sverka.create_login_link': ['console'],
  'sverka.create_merchant': ['console'],
  'sverka.create_user': ['console'],
  'sverka.decide_dead_letter': ['worker'],
  'sverka.edit_withdrawal': ['cabinet'],
  'sverka.encode_id': [],
  'sverka.erase_cardholder': ['gateway'],
  'sverka.expire_withdrawal': ['worker'],
  'sverka.finish_ledger_import': ['worker'],
  'sverka.guard_card_again': [],
  'sverka.guard_card_change': [],
  'sverka.guard_cardholder': [],
  'sverka.guard_cardholder_key': [],
  'sverka.guard_decision': [],
  'sverka.guard_issue_again': [],
  'sverka.guard_move': [],
  'sverka.guard_new_load': [],
  'sverka.guard_withdrawal_decision': [],
  'sverka.hash_parts': ['console'],
  'sverka.inbox_accept': ['relay'],
  'sverka.inbox_follower': ['relay'],
  'sverka.is_that_payout': [],
  'sverka.join_persons': ['console'],
  'sverka.keep_posted': [],
  'sverka.link_identity': ['console'],
  'sverka.lock_dead_letter': ['worker'],
  'sverka.lock_requested_import': ['worker'],
  'sverka.look_at_cardholder': ['console'],
  'sverka.may_enter': [],
  'sverka.move_withdrawal': [],
  'sverka.new_id': [],
  'sverka.note_refused_decision': ['console'],
  'sverka.open_identity_session': ['console', 'cabinet'],
  'sverka.open_session': ['console', 'cabinet'],
  'sverka.own_person': [],
  'sverka.payout_follower': ['relay', 'worker'],
  'sverka.plain_hash': ['worker', 'console'],
  'sverka.post_withdrawal': [],
  'sverka.raise_alert': ['worker'],
  'sverka.read_session': ['console', 'cabinet'],
  'sverka.refuse_change': [],
  'sverka.refuse_delete': [],
  'sverka.refuse_new_terms': [],
  'sverka.relay_health': ['relay'],
  'sverka.relay_heartbeat': ['relay'],
  'sverka.remind_of_withdrawal': ['worker'],
  'sverka.remove_passkey': ['console'],
  'sverka.remove_withdrawal_destination': ['cabinet'],
  'sverka.request_card_change': ['gateway'],
  'sverka.request_ledger_import': ['console'],
  'sverka.request_withdrawal': ['cabinet'],
  'sverka.require_requester': [],
  'sverka.resolve_alert': ['worker'],
  'sverka.revise_cardholder': ['gateway'],
  'sverka.revoke_api_key': ['console'],
  'sverka.revoke_session': ['console', 'cabinet'],
  'sverka.revoke_sessions': ['console'],
  'sverka.seal': ['worker', 'gateway'],
  'sverka.sessions_of': ['console'],
  'sverka.set_card_fee': ['console'],
  'sverka.set_user_disabled': ['console'],
  'sverka.set_user_roles': ['console'],
  'sverka.set_withdrawal_offer': ['console'],
  'sverka.set_withdrawal_policy': ['console'],
  'sverka.submit_withdrawal': ['worker'],
  'sverka.suspect_withdrawal': ['worker'],
  'sverka.take_passkey_challenge': ['console'],
  'sverka.take_sign_in': ['console', 'cabinet'],
  'sverka.tell_events': ['worker'],
  'sverka.tell_receivable': [],
  'sverka.tell_withdrawal': [],
  'sverka.unlink_identity': ['console'],
  'sverka.use_login_link': ['console'],
  'sverka.use_passkey': ['console'],
  'sverka.watch_states': [],
  'sverka.withdrawal_approvals': [],
  'sverka.withdrawal_approvals_needed': [],
  'sverka.withdrawal_approved_hash': ['console'],
  'sverka.withdrawal_hash': ['console'],
  'sverka.withdrawal_is_being_decided': [],
  'sverka.withdrawal_json': [],
  'sverka.withdrawal_key': [],
  'sverka.withdrawal_refusal': ['cabinet'],
};

/** Per verb, what is tried; nothing is touched where it is allowed. */
const VERBS = {
  r: (table: string) => `select from ${table} where false`,
  i: (table: string) => `insert into ${table} default values`,
  u: (table: string, column: string) => `update ${table} set ${column} = default where false`,
  d: (table: string) => `delete from ${table} where false`,
  t: (table: string) => `truncate ${table}`,
} as const;
const INSUFFICIENT_PRIVILEGE = '42501';

interface Relation {
  readonly name: string;
  readonly quoted: string;
  readonly column: string;
  readonly is_view: boolean;
}
interface Routine {
  readonly name: string;
  readonly call: string;
}

let database: TestDatabase;
let relations: Relation[];
let routines: Routine[];

beforeAll(async () => {
  database = await openTestDatabase();
  await withClient(database.url, async (client) => {
    relations = (
      await client.query<Relation>(
        `select n.nspname || '.' || c.relname as name, format('%I.%I', n.nspname, c.relname) as quoted,
            (select quote_ident(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum = 1) as column,
            c.relkind <> 'r' as is_view
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('ledger', 'sverka') and c.relkind in ('r', 'v', 'm', 'p', 'f') order by 1`,
      )
    ).rows;
    routines = (
      await client.query<Routine>(
        `select n.nspname || '.' || p.proname as name,
            format('%s %I.%I(%s)', case p.prokind when 'p' then 'call' else 'select' end, n.nspname, p.proname,
              (select string_agg('null::' || format_type(t.type, null), ', ' order by t.at)
                 from unnest(p.proargtypes::oid[]) with ordinality t(type, at))) as call
          from pg_proc p join pg_namespace n on n.oid = p.pronamespace
          where n.nspname in ('ledger', 'sverka') order by 1`,
      )
    ).rows;
  });
});
afterAll(() => database.close());

test('the expected rights name every table, view and function there is', () => {
  expect(Object.keys(TABLES)).toEqual(relations.map(({ name }) => name));
  expect(Object.keys(FUNCTIONS)).toEqual(routines.map(({ name }) => name));
});

describe.each(ROLES)('the role of %s', (role) => {
  test('does with each table what it is there for, and is refused the rest with 42501', async () => {
    const allowed: Record<string, string> = {};
    await asRole(role, async (refuses) => {
      for (const { name, quoted, column, is_view } of relations) {
        allowed[name] = '';
        for (const [letter, sql] of Object.entries(VERBS)) {
          // What a view refuses to everybody says nothing about the role.
          if (is_view && letter !== 'r') continue;
          if (!(await refuses(sql(quoted, column)))) allowed[name] += letter;
        }
      }
    });
    const expected = Object.entries(TABLES).map(([name, rights]) => [name, rights[role] ?? '']);
    expect(allowed).toEqual(Object.fromEntries(expected));
  });

  test('executes the functions that are its own, and is refused the rest with 42501', async () => {
    const allowed: string[] = [];
    await asRole(role, async (refuses) => {
      for (const { name, call } of routines) if (!(await refuses(call))) allowed.push(name);
    });
    const expected = Object.entries(FUNCTIONS).filter(([, roles]) => roles.includes(role));
    expect(allowed).toEqual(expected.map(([name]) => name));
  });

  test('cannot become an owner, make or change an object, or lift what it is bounded by', async () => {
    await asRole(role, async (refuses) => {
      for (const sql of [
        'set role sverka_owner',
        'set role sverka_ledger_owner',
        'create table ledger.mine (id int)',
        'create table sverka.mine (id int)',
        'create schema mine',
        'alter table ledger.entry disable trigger append_only',
        'drop table sverka.deposit',
        'create role mine',
        'set session_replication_role = replica',
      ]) {
        expect({ sql, refused: await refuses(sql) }).toEqual({ sql, refused: true });
      }
    });
  });
});

test('a right too many is seen', async () => {
  const other = await openTestDatabase();
  try {
    await withClient(other.url, (client) => client.query('grant delete on ledger.account to sverka_cabinet'));
    await withClient(other.url, (client) => client.query('grant usage on schema ledger to sverka_cabinet'));
    await withClient(other.url, (client) => client.query('alter table ledger.account disable trigger append_only'));
    const sql = VERBS.d('ledger.account');
    expect(await tried(other.urlFor('cabinet'), sql)).toBe('done');
    expect(await tried(database.urlFor('cabinet'), sql)).toBe(INSUFFICIENT_PRIVILEGE);
  } finally {
    await other.close();
  }
});

/** Runs `use` as that role; `refuses` tries one statement, takes it back, and tells whether the role was refused. */
async function asRole(role: TestRole, use: (refuses: (sql: string) => Promise<boolean>) => Promise<void>) {
  await withClient(database.urlFor(role), (client) =>
    use(async (sql) => (await outcome(client, sql)) === INSUFFICIENT_PRIVILEGE),
  );
}

async function tried(url: string, sql: string): Promise<string> {
  return withClient(url, (client) => outcome(client, sql));
}

/** `done`, or the SQLSTATE. */
async function outcome(client: pg.Client, sql: string): Promise<string> {
  await client.query('begin');
  try {
    await client.query(sql);
    return 'done';
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return error.code ?? error.message;
  } finally {
    await client.query('rollback');
  }
}
