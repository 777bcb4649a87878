#!/usr/bin/env node
// The command line in a checkout: `npx sverka …` or `npm run -s sverka -- …`. TypeScript is read as it stands, in this
// process: nothing is built and nothing is spawned.
try {
  const { register } = await import('tsx/esm/api');
  register();
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write('sverka: dependencies are missing. Install them with `npm ci`, or run `npm start` once.\n');
  process.exit(6);
}
await import('../src/cli.ts');
