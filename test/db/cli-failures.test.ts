import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { choosePorts } from '../../src/local/ports.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let cli: CommandLine;

beforeAll(async () => {
  database = await openTestDatabase();
  cli = openCommandLine(null);
});
beforeEach(() => cli.setRun(runWithConsole(database.urlFor('console'))));
afterAll(async () => {
  cli.remove();
  await database.close();
});

/** Somewhere nobody listens. */
async function nowhere(): Promise<string> {
  return `127.0.0.1:${(await choosePorts(['closed'])).closed}`;
}

describe('a command ends', () => {
  it('with 6 where nothing runs, and says how to start it', async () => {
    cli.setRun(null);
    expect(await cli.problem(['merchants', 'list'], 6)).toMatchObject({
      code: 'temporarily_unavailable',
      retryable: true,
      detail: expect.stringMatching(/npm start.*--profile/),
    });
  });

  it('with 6 while the start is not as far', async () => {
    cli.setRun({ version: 1, ready: false });
    await cli.problem(['merchants', 'list'], 6);
    await cli.problem(['schedules', 'list'], 6);
  });

  it('with 6 when PostgreSQL is away, without saying where it was looked for', async () => {
    const gone = new URL(database.urlFor('console'));
    gone.host = await nowhere();
    cli.setRun(runWithConsole(gone.href));
    const problem = await cli.problem(['merchants', 'create', 'Nordwind'], 6);
    expect(problem).toMatchObject({ code: 'temporarily_unavailable' });
    expect(JSON.stringify(problem)).not.toContain(gone.port);
  });

  it('with 6 when Temporal is away', async () => {
    cli.setRun({ ...runWithConsole(database.urlFor('console')), temporalAddress: await nowhere() });
    await cli.problem(['schedules', 'list'], 6);
    await cli.problem(['schedules', 'run', 'deposit-reconcile:live:custody'], 6);
  });

  it('with 7 when the role may not do it, and then nothing was done', async () => {
    cli.setRun(runWithConsole(database.urlFor('gateway')));
    expect(await cli.problem(['merchants', 'create', 'Nordwind'], 7)).toMatchObject({ code: 'permission' });
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    expect((await owner.query('select from sverka.merchant')).rowCount).toBe(0);
    await owner.end();
  });

  it('with 7 when the password is wrong, and does not repeat it', async () => {
    const wrong = new URL(database.urlFor('console'));
    wrong.password = 'wrong-password-of-a-test';
    cli.setRun(runWithConsole(wrong.href));
    const problem = await cli.problem(['merchants', 'list'], 7);
    expect(JSON.stringify(problem)).not.toContain('wrong-password');
  });

  it('with 6 when the database has another schema', async () => {
    const empty = new URL(database.url);
    empty.pathname = '/postgres';
    cli.setRun(runWithConsole(empty.href));
    expect(await cli.problem(['merchants', 'list'], 6)).toMatchObject({ detail: expect.stringContaining('schema') });
  });

  it('with 2 and one line for a person when it was called wrongly', async () => {
    const { code, stdout, stderr } = await cli.run('merchants', 'list', '--limit', '0');
    expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 });
    expect(stderr).toMatch(/^sverka: .*1 to 100/);
  });
});

describe('another profile', () => {
  const writeProfiles = (content: unknown) => {
    const folder = join(cli.state, '.config', 'sverka');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'profiles.json'), typeof content === 'string' ? content : JSON.stringify(content));
  };

  it('of the file of profiles is used, and needs no run file', async () => {
    cli.setRun(null);
    writeProfiles({ production: { databaseUrl: database.urlFor('console') } });
    expect(await cli.json(['merchants', 'list', '--profile', 'production'])).toMatchObject({ object: 'list' });
    await cli.problem(['schedules', 'list', '--profile', 'production'], 6);
  });

  it('that no file knows, or whose entry cannot be used, ends with 2 and names what is wrong', async () => {
    const detailOf = async (name: string) => (await cli.problem(['merchants', 'list', '--profile', name], 2))['detail'];
    writeProfiles('{');
    expect(await detailOf('production')).toContain('profiles.json');
    writeProfiles({ production: { databaseURL: 'postgres://…' }, other: { databaseUrl: 'mysql://x' } });
    expect(await detailOf('staging')).toContain('Known: local, production, other');
    expect(await detailOf('production')).toMatch(/production\.databaseUrl: .*databaseURL/);
    expect(await detailOf('other')).toContain('other.databaseUrl: must be a postgres:// URL');
  });
});
