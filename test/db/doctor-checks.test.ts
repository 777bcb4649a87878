import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { checkAlerts } from '../../src/cli/doctor/check-alerts.js';
import { checkProcesses, checkProfileFile } from '../../src/cli/doctor/check-machine.js';
import { loadProfile } from '../../src/cli/profile.js';
import { raiseAlert, resolveAlert } from '../../src/db/alerts.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
let state: string;
/** A process that has been and is no more. */
let gone: number;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 1, applicationName: 'test' });
  state = mkdtempSync(join(tmpdir(), 'sverka-doctor-'));
  gone = spawnSync(process.execPath, ['-e', '']).pid;
});
afterAll(async () => {
  rmSync(state, { recursive: true });
  await owner?.end();
  await database?.close();
});

/** The profile of a run whose start has this pid. */
function runOf(self: number) {
  const pids = { self, worker: process.pid, relay: gone };
  const run = { version: 1, ready: true, pids, databaseUrls: { console: 'postgres://unused' } };
  writeFileSync(join(state, 'run.json'), JSON.stringify(run), { mode: 0o600 });
  return loadProfile('local', { SVERKA_STATE_DIR: state });
}
const relayOf = (self: number) =>
  checkProcesses(runOf(self).run ?? {}).find(({ check }) => check === 'process:relay')?.fix;

it('a child that is gone is started again in seconds, unless nobody is left who does that', () => {
  expect(relayOf(process.pid)).toMatch(/started again in seconds/);
  expect(relayOf(gone)).toMatch(/^Nobody starts .*npm start/);
});

it('a file that a killed start has left behind is not ready, whatever it says', () => {
  expect(checkProfileFile(runOf(process.pid))).toMatchObject({ state: 'ok' });
  expect(checkProfileFile(runOf(gone))).toMatchObject({ state: 'missing', detail: 'the start that wrote it is gone' });
});

it('open alerts are a warning, counted by kind; resolved ones are none', async () => {
  const db = queriesOf(owner);
  expect(await checkAlerts(db)).toEqual([{ check: 'alerts', state: 'ok', detail: 'none is open', fix: null }]);
  for (const key of ['a', 'b', 'c']) await raiseAlert(db, { key, kind: 'stuck', detail: 'A test.' });
  await raiseAlert(db, { key: 'd', kind: 'drift', detail: 'A test.' });
  await resolveAlert(db, 'c');
  expect(await checkAlerts(db)).toMatchObject([{ state: 'warning', detail: 'open: 2 stuck, 1 drift' }]);
});
