import { parseArgs } from 'node:util';
import { migrate } from './db/migrate.js';
import { playStory } from './demo/story.js';
import { localPaths } from './local/paths.js';
import type { RunFile } from './local/run-file.js';
import { seedMerchants } from './local/seed.js';
import { createStack } from './local/stack.js';
import { onStopSignals } from './local/stop-signals.js';

const { values: flags } = parseArgs({ options: { once: { type: 'boolean' }, 'no-story': { type: 'boolean' } } });
// A terminal that went away must not end us before our children are stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// What is written here holds keys, payloads and passwords: for this user alone.
process.umask(0o077);

const say = (line: string) => void process.stderr.write(`${line}\n`);
const paths = localPaths(process.env);
const stack = createStack({ env: process.env, paths, migrate, seed: seedMerchants, notice: say });
let ending: Promise<never> | null = null;
onStopSignals(process.env, {
  stop: (reason) => {
    say(`Stopping (${reason}); once more Ctrl-C kills …`);
    void end(flags.once ? 130 : 0);
  },
  kill: () => void stack.kill().finally(() => process.exit(130)),
});

try {
  const started = Date.now();
  say('Starting PostgreSQL, Temporal and Sverka …');
  const run = await stack.start();
  say(`Everything is up after ${((Date.now() - started) / 1_000).toFixed(1)} s.`);
  const held = flags['no-story'] ? true : await playStory(run);
  if (flags.once) await end(held ? 0 : 1);
  if (ending === null) process.stdout.write(links(run));
} catch (error) {
  // What fails because we are stopping is no news.
  if (ending === null) say(error instanceof Error ? error.message : String(error));
  await end(1);
}

function end(code: number): Promise<never> {
  ending ??= stack.stop().then(
    () => process.exit(code),
    (error: unknown) => {
      say(`Not everything could be stopped: ${error instanceof Error ? error.message : String(error)}`);
      process.exit(1);
    },
  );
  return ending;
}

function links(run: RunFile): string {
  const rows = [
    ['Gateway', run.gatewayUrl],
    ['API docs', `${run.gatewayUrl}/docs`],
    ['Webhooks', run.relayUrl],
    ['Temporal UI', run.temporalUiUrl ?? `at the server of TEMPORAL_ADDRESS (${run.temporalAddress})`],
    ['Everything', paths.runFile],
  ];
  return `\n${rows.map(([name, link]) => `  ${name?.padEnd(12)}${link}`).join('\n')}\n\nCtrl-C stops all of it.\n`;
}
