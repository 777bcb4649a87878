// Writes schema.sql, the schema that all migrations together make: `node scripts/dump-schema.mjs`.
// With `--check` nothing is written: it fails when the file is not what the migrations make.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
const load = (path) => tsImport(path, import.meta.url);
const [{ migrate }, { createSupervisor }, { startGuard }, { choosePorts }, postgres, { dumpSchema }] =
  await Promise.all([
    load('../src/db/migrate.ts'),
    load('../src/local/children.ts'),
    load('../src/local/guard.ts'),
    load('../src/local/ports.ts'),
    load('../src/local/postgres.ts'),
    load('../test/support/schema-dump.ts'),
  ]);

const dump = await dumpFresh();
if (!process.argv.includes('--check')) {
  writeFileSync(file, dump);
} else {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const made = dump.split('\n');
  const at = made.findIndex((line, index) => line !== kept[index]);
  if (at >= 0 || made.length !== kept.length) {
    process.stdout.write(`schema.sql:${at + 1}\n  it says:             ${kept[at] ?? '(nothing)'}\n`);
    process.stdout.write(`  the migrations make: ${made[at] ?? '(nothing)'}\n`);
    process.exitCode = 1;
  }
}

/** A PostgreSQL of its own for one database, ended and removed afterwards. */
async function dumpFresh() {
  const state = mkdtempSync(join(tmpdir(), 'sverka-schema-'));
  chmodSync(state, 0o711);
  const guard = startGuard({ label: state });
  const supervisor = createSupervisor({ guard });
  try {
    const { postgres: port } = await choosePorts(['postgres']);
    const server = await postgres.preparePostgres({ state, port, logFile: join(state, 'postgres.log') });
    await supervisor.start(server.child);
    await postgres.ensureDatabase({ adminUrl: server.url('postgres'), name: 'sverka' });
    await migrate(server.url('sverka'));
    return await dumpSchema(server.url('sverka'));
  } finally {
    await supervisor.kill();
    guard.done();
    rmSync(state, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}
