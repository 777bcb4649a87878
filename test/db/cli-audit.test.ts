import { createHash } from 'node:crypto';
import { exportAudit } from '../../src/db/export-audit.js';
import { seal } from '../../src/db/seal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { eventually } from '../support/simulated-custody.js';

/** One of the merchant, two of the address, four of a deposit that is credited at once. */
const ROWS = 7;
let world: DepositWorld;
let cli: CommandLine;

beforeEach(async () => {
  world = await openDepositWorld();
  cli = openCommandLine(runWithConsole(world.database.urlFor('console')));
  const at = await world.address();
  await world.read(await world.arrive(at, { amount: '1' }));
  await sealUntil(ROWS);
});
afterEach(async () => {
  cli.remove();
  await world.close();
});

/** An open transaction of any database of the cluster holds the sealer back. */
async function sealUntil(rows: number): Promise<void> {
  await eventually(async () => {
    await seal(queriesOf(world.pool), 1_000);
    const { rowCount } = await world.owner.query('select from sverka.audit_seal');
    return rowCount === rows;
  });
}

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

/** What nobody can do in production: every trigger off, and rows altered behind the back of all rules. */
async function behindTheBack(sql: string): Promise<void> {
  const client = await world.owner.connect();
  try {
    for (const table of ['sverka.audit', 'sverka.audit_seal']) {
      await client.query(`alter table ${table} disable trigger all`);
    }
    expect((await client.query(sql)).rowCount).toBeGreaterThan(0);
  } finally {
    client.release();
  }
}

interface Verified {
  readonly head: { readonly position: string; readonly hash: string };
  readonly findings: readonly { readonly kind: string; readonly position: string | null; readonly audit_id: string }[];
}
const verify = async (code: number, ...flags: string[]) =>
  (await cli.json(['audit', 'verify', ...flags], code)) as unknown as Verified;
const named = ({ findings }: Verified) => findings.map(({ kind, position }) => [kind, position]);
const auditId = async (position: number) => {
  const sql = 'select audit_id::text as id from sverka.audit_seal where position = $1';
  return (await world.owner.query<{ id: string }>(sql, [position])).rows[0]?.id ?? '';
};

describe('the chain', () => {
  test('of an untouched audit is whole, and its end can be kept and asked for again', async () => {
    const { head, ...whole } = await verify(0);
    const checked = { rows: ROWS, sealed: ROWS };
    expect(whole).toEqual({ object: 'audit_verification', ok: true, checked, findings: [] });
    expect(head).toEqual({ position: String(ROWS), hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const kept = `${head.position}:${head.hash}`;
    expect((await cli.run('audit', 'verify', '--kept', kept)).stdout).toContain(`it ends with: ${kept}`);
  });

  test.each([
    ['who made a move', `update sverka.audit set actor = 'user:somebody' where id = $id`],
    ['when', `update sverka.audit set recorded_at = recorded_at + interval '1 microsecond' where id = $id`],
    ['what was sealed', `update sverka.audit_seal set audit_id = audit_id + 1000000 where audit_id = $id`],
  ])('shows %s, altered as superuser, at its position', async (_, sql) => {
    await behindTheBack(sql.replace('$id', await auditId(4)));
    const [first] = (await verify(1)).findings;
    expect(first).toMatchObject({ kind: expect.stringMatching(/^audit_(chain_broken|row_gone)$/), position: '4' });
    const { code, stdout } = await cli.run('audit', 'verify');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/audit_\w+ +4 /)]);
  });

  test('names a row that is gone, without one that follows it', async () => {
    const id = await auditId(3);
    await behindTheBack(`delete from sverka.audit where id = ${id}`);
    expect((await verify(1)).findings).toEqual([
      { kind: 'audit_row_gone', position: '3', audit_id: id, detail: expect.stringContaining('is gone') },
    ]);
  });

  test('names positions that are missing, and the row that was sealed there', async () => {
    const id = await auditId(2);
    await behindTheBack('delete from sverka.audit_seal where position = 2');
    const found = await verify(1);
    expect(named(found)).toEqual([
      ['audit_position_gap', '3'],
      ['audit_row_unsealed', null],
    ]);
    expect(found.findings[1]?.audit_id).toBe(id);
  });

  test('names a row that somebody slipped in behind the sealer, which is never sealed', async () => {
    const copied =
      'book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id';
    await behindTheBack(
      `insert into sverka.audit (${copied}, recorded_at, xid)
         select ${copied}, recorded_at, xid from sverka.audit where id = ${await auditId(1)}`,
    );
    await seal(queriesOf(world.pool), 1_000);
    expect(named(await verify(1))).toEqual([['audit_row_unsealed', null]]);
  });

  test('names what the sealer has not come for for long, and not what was written just now', async () => {
    await world.read(await world.arrive(await world.address(), { amount: '2' }));
    await verify(0);
    await behindTheBack(
      `update sverka.audit set recorded_at = recorded_at - interval '11 minutes' where id = (
         select max(id) from sverka.audit)`,
    );
    await eventually(async () => (await cli.run('audit', 'verify')).code === 1);
    expect(named(await verify(1))).toEqual([['audit_row_unsealed', null]]);
  });

  test('made anew from the altered row on fits itself, and not what was kept of it', async () => {
    const { head } = await verify(0);
    await behindTheBack(`update sverka.audit set actor = 'user:somebody' where id = ${await auditId(5)}`);
    await world.owner.query(
      `do $$ declare s record; link bytea; begin
         for s in select x.position, sverka.audit_bytes(a) as bytes from sverka.audit_seal x
             join sverka.audit a on a.id = x.audit_id order by x.position loop
           link := sha256(coalesce(link, '') || s.bytes);
           update sverka.audit_seal set hash = link where position = s.position;
         end loop; end $$`,
    );
    await verify(0);
    expect(named(await verify(1, '--kept', `${head.position}:${head.hash}`))).toEqual([
      ['audit_place_differs', head.position],
    ]);
    expect(await cli.problem(['audit', 'verify', '--kept', 'nonsense'], 2)).toMatchObject({ code: 'validation' });
  });

  test('is held against the books by the full check as well', async () => {
    await behindTheBack(`delete from sverka.audit where id = ${await auditId(2)}`);
    const found = await cli.json(['ledger', 'verify', '--full'], 1);
    expect(found['findings']).toEqual([expect.objectContaining({ kind: 'audit_row_gone', account_id: null })]);
  });
});

interface Line {
  readonly position: string;
  readonly hash: string;
  readonly sealed_text: string;
  readonly [member: string]: unknown;
}

async function exported(...flags: string[]): Promise<{ lines: Line[]; cursor: string | undefined }> {
  const { code, stdout, stderr } = await cli.run('audit', 'export', ...flags);
  expect({ code, stderr: stderr.replace(/--cursor \S+/, '') }).toEqual({ code: 0, stderr: expect.any(String) });
  const lines = stdout.split('\n').slice(0, -1);
  return { lines: lines.map((line) => JSON.parse(line) as Line), cursor: /--cursor (\S+)/.exec(stderr)?.[1] };
}

describe('the export', () => {
  test('has a line for each sealed row, from which the chain can be rebuilt without a database', async () => {
    const { lines } = await exported();
    expect(lines.map(({ position }) => position)).toEqual(numbered(1, ROWS));
    let link = Buffer.alloc(0);
    for (const { hash, sealed_text, ...line } of lines) {
      link = createHash('sha256').update(link).update(sealed_text, 'utf8').digest();
      expect([line.position, hash]).toEqual([line.position, link.toString('hex')]);
      const [id, book, , type, subject, , to, version, actor] = JSON.parse(sealed_text) as unknown[];
      expect(line).toMatchObject({ id: String(id), book, subject: { type, id: subject }, to, version, actor });
    }
    expect(link.toString('hex')).toBe((await verify(0)).head.hash);
  });

  test('goes on behind its cursor with what came since, and has nothing twice', async () => {
    const { cursor = '' } = await exported();
    expect(await exported('--cursor', cursor)).toEqual({ lines: [], cursor: undefined });
    await world.read(await world.arrive(await world.address(), { amount: '2' }));
    await sealUntil(ROWS + 4);
    const since = (await exported('--cursor', cursor)).lines.map(({ position }) => position);
    expect(since).toEqual(numbered(ROWS + 1, ROWS + 4));
    expect(await cli.problem(['audit', 'export', '--cursor', `${cursor}x`], 2)).toMatchObject({
      code: 'invalid_cursor',
    });
  });

  test('is bounded by time and book; a time that is none is refused', async () => {
    const { lines } = await exported();
    const third = String(lines[2]?.['recorded_at']);
    const before = (await exported('--to', third)).lines;
    const since = (await exported('--from', third)).lines;
    expect([...before, ...since]).toEqual(lines);
    expect(before.length).toBeGreaterThan(0);
    // What belongs to no book belongs to both.
    expect((await exported('--book', 'test')).lines.map(({ book }) => book)).toEqual(['both']);
    for (const time of ['yesterday', '2026-02-30', '2026-11-30T10:00:00']) {
      expect(await cli.problem(['audit', 'export', '--from', time], 2)).toMatchObject({ code: 'validation' });
    }
  });

  test('reads a thousand positions at a time, whatever there is', async () => {
    const asked: unknown[][] = [];
    const db = queriesOf(world.owner);
    await behindTheBack('update sverka.audit_seal set position = position + 5000 where position > 3');
    const counting: typeof db = {
      query(sql, params) {
        asked.push([...(params ?? [])]);
        return db.query(sql, params);
      },
    };
    const positions: bigint[] = [];
    const all = { after: 0n, from: null, to: null, book: null };
    for await (const { position } of exportAudit(counting, all)) positions.push(position);
    expect(positions).toEqual([1n, 2n, 3n, 5_004n, 5_005n, 5_006n, 5_007n]);
    expect(asked).toHaveLength(1 + 6);
  });
});
