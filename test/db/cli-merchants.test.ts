import { createHash } from 'node:crypto';
import type pg from 'pg';
import { createMerchant } from '../../src/db/merchants.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
let cli: CommandLine;
let merchantId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  merchantId = await createMerchant(queriesOf(owner), 'Nordwind');
  cli = openCommandLine(runWithConsole(database.urlFor('console')));
});
afterAll(async () => {
  cli.remove();
  await owner.end();
  await database.close();
});

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const PROBLEM = {
  title: expect.any(String),
  status: expect.any(Number),
  detail: expect.any(String),
  trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  errors: [],
};

async function rowsOf(table: 'merchant' | 'api_key'): Promise<number> {
  const { rows } = await owner.query<{ count: bigint }>(`select count(*) from sverka.${table}`);
  return Number(rows[0]?.count);
}

describe('merchants', () => {
  it.each([
    ['ESC', 'Shop\u001b[2J'],
    ['a line end', 'Shop\nOther'],
    ['a separator of lines', 'Shop\u2028Other'],
    ['what turns text around', 'Shop\u202e'],
  ])('create refuses a name with %s in it, and shows none of it', async (_, name) => {
    const before = await rowsOf('merchant');
    const problem = await cli.problem(['merchants', 'create', name], 2);
    expect(problem['detail']).toMatch(/no control characters/);
    expect(await rowsOf('merchant')).toBe(before);
  });

  it('create makes one, list and show show it as it was made', async () => {
    const made = await cli.json(['merchants', 'create', '  Südwind & Söhne ']);
    expect(made).toEqual({
      object: 'merchant',
      id: expect.stringMatching(/^mer_[0-7][0-9a-z]{25}$/),
      name: 'Südwind & Söhne',
      created_at: TIME,
    });
    expect(await cli.json(['merchants', 'list', '--limit', '1'])).toEqual({
      object: 'list',
      data: [made],
      has_more: true,
      next_cursor: expect.any(String),
    });
    expect(await cli.json(['merchants', 'show', String(made['id']), '--book', 'test'])).toEqual({
      ...made,
      keys: [],
      wallets: {
        test: {
          object: 'wallet',
          id: expect.stringMatching(/^wal_/),
          owner: { type: 'merchant', id: made['id'], ref: null },
          balances: [],
          as_of: TIME,
        },
      },
    });
  });

  it('create with --dry-run says what it would do and makes nothing', async () => {
    const before = await rowsOf('merchant');
    expect(await cli.json(['merchants', 'create', 'Ostwind', '--dry-run', '--reason', 'a try'])).toEqual({
      object: 'dry_run',
      would: 'make the merchant "Ostwind"',
      subject: null,
      reason: 'a try',
    });
    expect(await rowsOf('merchant')).toBe(before);
  });

  it('create refuses a name that no column could take', async () => {
    for (const name of ['   ', 'x'.repeat(141)]) {
      expect(await cli.problem(['merchants', 'create', name], 2)).toMatchObject({ code: 'validation' });
    }
  });

  it('show of a merchant that is not there ends with 3', async () => {
    expect(await cli.problem(['merchants', 'show', 'mer_00000000000000000000000000'], 3)).toEqual({
      ...PROBLEM,
      type: '/problems/not_found',
      status: 404,
      instance: '/sverka/merchants/show',
      code: 'not_found',
      retryable: false,
    });
  });

  it('a name cannot drive the terminal of who lists it', async () => {
    await createMerchant(queriesOf(owner), 'red\u001b[31m and \u202eback');
    const { stdout } = await cli.run('merchants', 'list', '--limit', '100');
    expect(stdout).toContain('red\u{fffd}[31m and \u{fffd}back');
  });
});

describe('keys', () => {
  it('create prints the key this once, and only its SHA-256 is stored', async () => {
    const made = await cli.json(['keys', 'create', merchantId, '--book', 'live']);
    expect(made).toEqual({
      object: 'api_key',
      id: expect.stringMatching(/^key_[0-7][0-9a-z]{25}$/),
      merchant_id: merchantId,
      book: 'live',
      access: 'full',
      key: expect.stringMatching(/^sk_live_[0-9A-Za-z]{43}$/),
      created_at: TIME,
      revoked_at: null,
    });
    const secret = String(made['key']);
    const { rows } = await owner.query('select * from sverka.api_key where id = $1', [made['id']]);
    expect(rows[0].hash).toEqual(createHash('sha256').update(secret).digest());
    expect(JSON.stringify(rows)).not.toContain(secret.slice(8));
    for (const args of [
      ['keys', 'list'],
      ['merchants', 'show', merchantId],
      ['trace', String(made['id'])],
    ]) {
      for (const format of [[], ['--json']]) {
        const shown = await cli.run(...args, ...format);
        expect(shown.stdout).toContain(made['id']);
        expect(shown.stdout + shown.stderr).not.toContain(secret.slice(8));
      }
    }
  });

  it('create for a person shows the key on a line of its own', async () => {
    const { code, stdout, stderr } = await cli.run('keys', 'create', merchantId, '--book', 'test');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/^ {2}sk_test_[0-9A-Za-z]{43}$/gm)).toHaveLength(1);
  });

  it('create without a book makes one of the test book, and --read-only one that may only read', async () => {
    const made = await cli.json(['keys', 'create', merchantId, '--read-only']);
    expect(made).toMatchObject({ book: 'test', access: 'read_only', key: expect.stringMatching(/^sk_test_/) });
  });

  it('create with --dry-run makes none, and needs a merchant all the same', async () => {
    const before = await rowsOf('api_key');
    const dry = await cli.json(['keys', 'create', merchantId, '--book', 'live', '--dry-run']);
    expect(dry).toMatchObject({ object: 'dry_run', would: `make a full live key for ${merchantId}` });
    await cli.problem(['keys', 'create', 'mer_00000000000000000000000000', '--dry-run'], 3);
    expect(await rowsOf('api_key')).toBe(before);
  });

  it('list pages through all keys of a merchant, and refuses a cursor of another list', async () => {
    const other = await createMerchant(queriesOf(owner), 'Ostwind');
    const made = [];
    for (const book of ['live', 'test', 'live']) {
      made.unshift((await cli.json(['keys', 'create', other, '--book', book]))['id']);
    }
    const first = await cli.json(['keys', 'list', other, '--limit', '2']);
    const next = await cli.json(['keys', 'list', other, '--limit', '2', '--cursor', String(first['next_cursor'])]);
    const ids = [first, next].flatMap(({ data }) => (data as { id: string }[]).map(({ id }) => id));
    expect(ids).toEqual(made);
    expect(next).toMatchObject({ has_more: false, next_cursor: null });
    const live = await cli.json(['keys', 'list', other, '--book', 'live']);
    expect(live['data']).toHaveLength(2);
    const elsewhere = ['keys', 'list', merchantId, '--cursor', String(first['next_cursor'])];
    expect(await cli.problem(elsewhere, 2)).toMatchObject({
      code: 'invalid_cursor',
      errors: [{ pointer: '?cursor', detail: expect.any(String) }],
    });
  });

  it('revoke asks first: without a terminal it wants --yes, with --dry-run nothing is revoked', async () => {
    const { id } = await cli.json(['keys', 'create', merchantId]);
    expect(await cli.problem(['keys', 'revoke', String(id)], 2)).toMatchObject({
      detail: expect.stringContaining('--yes'),
    });
    const dry = await cli.json(['keys', 'revoke', String(id), '--dry-run']);
    expect(dry).toMatchObject({ object: 'dry_run', subject: { id, key: null, revoked_at: null } });
    const { rows } = await owner.query('select from sverka.api_key where id = $1 and revoked_at is null', [id]);
    expect(rows).toHaveLength(1);
  });

  it('revoke with --yes revokes, and again changes nothing', async () => {
    const { id } = await cli.json(['keys', 'create', merchantId]);
    const revoked = await cli.json(['keys', 'revoke', String(id), '--yes']);
    expect(revoked).toMatchObject({ object: 'api_key', id, key: null, revoked_at: TIME });
    expect(await cli.json(['keys', 'revoke', String(id), '--yes'])).toEqual(revoked);
    expect((await cli.run('keys', 'revoke', String(id))).stdout).toContain('revoked before');
    const trace = await cli.json(['trace', String(id)]);
    expect((trace['items'] as { kind: string }[]).map(({ kind }) => kind)).toEqual([
      ...['api_key', 'move', 'api_key_revoked', 'move'],
    ]);
  });

  it('revoke of a key that is not there ends with 3, and a key itself is not taken and not repeated', async () => {
    await cli.problem(['keys', 'revoke', 'key_00000000000000000000000000', '--yes'], 3);
    const { key } = await cli.json(['keys', 'create', merchantId]);
    for (const command of [
      ['keys', 'revoke', String(key), '--yes'],
      ['trace', String(key)],
    ]) {
      const refused = await cli.run(...command);
      expect(refused.code).toBe(2);
      expect(refused.stdout + refused.stderr).not.toContain(String(key).slice(8));
    }
  });
});
