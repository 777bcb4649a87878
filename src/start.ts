import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { providerAccountName } from './contracts/ids.js';
import { migrate } from './db/migrate.js';
import { playStory } from './demo/story.js';
import { localPaths } from './local/paths.js';
import type { RunFile } from './local/run-file.js';
import { seed } from './local/seed.js';
import { createStack } from './local/stack.js';
import { onStopSignals } from './local/stop-signals.js';
import { ensureKeyring } from './providers/keys/keyring-file.js';

const USAGE = `Usage: npm start [-- <flags>]

Starts PostgreSQL, Temporal and every process of Sverka on this machine, plays the story, and stays until Ctrl-C.

  --once               end after the story: with 0 only if every expectation held
  --no-story           start everything and play nothing
  --encrypt-payloads   encrypt what Temporal keeps, and start the codec for its UI
  -h, --help           print this

Settings come from the environment: docs/reference/configuration.md lists them.
`;
/** The longest label of the links is shorter. */
const LABEL_CHARACTERS = 20;
const say = (line: string) => void process.stderr.write(`${line}\n`);
// A terminal that went away must not end us before our children are stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// What is written below `.sverka` holds keys, payloads and passwords: for this user alone.
process.umask(0o077);

try {
  await main();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

async function main(): Promise<void> {
  const flags = readFlags();
  if (flags.help) return void process.stdout.write(USAGE);
  const stack = createStack({
    env: process.env,
    paths: localPaths(process.env),
    encryptPayloads: flags['encrypt-payloads'] === true,
    migrate,
    seed,
    accountName: providerAccountName,
    ensureKeyring,
    notice: say,
  });
  let stopping = false;
  const end = async (code: number) => {
    stopping = true;
    await stack.stop();
    process.exit(code);
  };
  onStopSignals(process.env, {
    stop: (reason) => {
      say(`Stopping (${reason}); Ctrl-C once more kills …`);
      void end(flags.once ? 130 : 0);
    },
    kill: () => void stack.kill().finally(() => process.exit(130)),
  });
  try {
    const run = await startAll(stack);
    const held = flags['no-story'] ? true : await playStory(run);
    if (stopping) return;
    if (flags.once) return await end(held ? 0 : 1);
    process.stdout.write(links(run));
  } catch (error) {
    // What fails because we are stopping is no news.
    if (stopping) return;
    say(error instanceof Error ? error.message : String(error));
    await end(1);
  }
}

/** Ends with 2, as every command of ours does, when it is called in a wrong way. */
function readFlags(): Partial<Record<'once' | 'no-story' | 'encrypt-payloads' | 'help', boolean | undefined>> {
  const flag = { type: 'boolean' } as const;
  const options = { once: flag, 'no-story': flag, 'encrypt-payloads': flag, help: { ...flag, short: 'h' } } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.stderr.write(USAGE);
    process.exit(2);
  }
}

async function startAll(stack: { start(): Promise<RunFile> }): Promise<RunFile> {
  const began = performance.now();
  const run = await stack.start();
  say(`Everything is up after ${((performance.now() - began) / 1_000).toFixed(1)} s.`);
  return run;
}

function links(run: RunFile): string {
  const rows = [
    ['Console', run.consoleUrl],
    ['Cabinet', run.cabinetUrl],
    ...run.logins.map(({ user, linkFile }) => [`  as ${user}`, oneTimeLink(linkFile)]),
    ['Gateway', run.gatewayUrl],
    ['API docs', `${run.gatewayUrl}/docs`],
    ['Webhooks', `${run.relayUrl}/hooks/…`],
    ['Temporal UI', run.temporalUiUrl ?? `that of ${run.temporalAddress}`],
    ...(run.codecUrl === null ? [] : [['Codec', `${run.codecUrl}/sign-in (token: codecToken in the file below)`]]),
    ['All of it', `${localPaths(process.env).runFile} (addresses, keys, process ids, log files)`],
  ];
  const lines = rows.map(([name, link]) => `  ${name?.padEnd(LABEL_CHARACTERS)}${link}\n`);
  return `\n${lines.join('')}\nCtrl-C stops everything.\n`;
}

/** A page of our own, opened once; whoever reads this terminal may sign in. */
function oneTimeLink(linkFile: string): string {
  return readFileSync(join(localPaths(process.env).repository, linkFile), 'utf8').trim();
}
