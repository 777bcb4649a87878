// Records the histories of test/replay by running the real flows against real servers. Run it by hand, in a commit that
// changes nothing else: a history is of use when it was made by an earlier commit than the code that replays it.
//   node scripts/record-histories.mjs          writes what is missing
//   node scripts/record-histories.mjs --all    writes all of them anew
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const folder = fileURLToPath(new URL('../test/replay/histories/', import.meta.url));
const all = process.argv.includes('--all');

// The support of tests asks Jest for the name of its file.
globalThis.expect = { getState: () => ({ testPath: 'recorder.test.ts' }) };
const { startTestServers } = await tsImport('../test/support/servers.ts', import.meta.url);
const servers = await startTestServers(process.env);
Object.assign(process.env, servers.environment);
try {
  const { recordHistories } = await tsImport('../test/support/worker-recorder.ts', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, recorded] of await recordHistories({}, { long: true })) {
    const file = `${folder}${name}.json`;
    if (!all && existsSync(file)) continue;
    writeFileSync(file, `${JSON.stringify(recorded)}\n`);
    process.stdout.write(`${name}: ${recorded.history.events.length} events\n`);
  }
} finally {
  await servers.stop();
}
