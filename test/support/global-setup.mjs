import { isAbsolute, relative } from 'node:path';
import { tsImport } from 'tsx/esm/api';

/** Starts what tests need, once per run, and hands it over through `TEST_…` variables; nothing for unit tests alone. */
export default async function globalSetup(globalConfig) {
  if (asksOnlyForUnitTests(globalConfig)) return;
  const { startTestServers } = await tsImport('./servers.ts', import.meta.url);
  const servers = await startTestServers(process.env);
  Object.assign(process.env, servers.environment);
  globalThis.sverkaTestServers = servers;
}

function asksOnlyForUnitTests({ nonFlagArgs, rootDir }) {
  const paths = nonFlagArgs.map((path) => (isAbsolute(path) ? relative(rootDir, path) : path.replace(/^\.\//, '')));
  return paths.length > 0 && paths.every((path) => path.startsWith('test/unit'));
}
