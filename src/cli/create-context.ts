import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { DataConverter } from '@temporalio/common';
import type pg from 'pg';
import type { createDataConverter } from '../client/data-converter.js';
import { createPool } from '../db/pool.js';
import { queriesOf } from '../db/transaction.js';
import type { Context, Flags, TemporalClient } from './command.js';
import { CliFailure } from './failure.js';
import { createOutput } from './output.js';
import { loadProfile, type Profile } from './profile.js';

/** The process that a command runs in. */
export interface CliProcess {
  /** Without node and the script. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** A server that does not answer is found out within this time. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The context of one command; `close` ends the connections that it made. */
export function createContext(io: CliProcess, flags: Flags): { context: Context; close(): Promise<void> } {
  let profile: Profile | undefined;
  let pool: pg.Pool | undefined;
  let temporal: Promise<TemporalClient> | undefined;
  const context: Context = {
    flags,
    env: io.env,
    out: createOutput(io.stdout, { json: flags.json, env: io.env }),
    profile: () => (profile ??= loadProfile(flags.profile, io.env)),
    pool: () => (pool ??= createPool(context.profile().databaseUrl, { max: 2, applicationName: 'sverka-cli' })),
    db: () => queriesOf(context.pool()),
    temporal: () => (temporal ??= connectTemporal(context.profile())),
    confirm: (question) => confirm(io, flags, question),
    stream: (lines) => stream(io.stdout, lines),
    note: (text) => void io.stderr.write(`${text}\n`),
  };
  return {
    context,
    async close() {
      await pool?.end();
      const connected = await temporal?.catch(() => null);
      await connected?.connection.close();
    },
  };
}

async function stream(stdout: CliProcess['stdout'], lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) {
    if (!stdout.write(`${line}\n`)) await once(stdout, 'drain');
  }
}

async function connectTemporal(profile: Profile): Promise<TemporalClient> {
  const { temporalAddress: address, temporalNamespace: namespace } = profile;
  if (address === null) {
    throw new CliFailure('unavailable', `Profile ${profile.name} names no temporalAddress in ${profile.file}.`);
  }
  // Loaded when needed: the package takes longer than most commands.
  const [{ Client, Connection }, { createDataConverter }] = await Promise.all([
    import('@temporalio/client'),
    import('../client/data-converter.js'),
  ]);
  const dataConverter = converterOf(profile, createDataConverter);
  const connection = await Connection.connect({ address, connectTimeout: CONNECT_TIMEOUT_MS }).catch(
    (error: unknown) => {
      const message = 'Temporal does not answer at the address of this profile. `sverka doctor` names what is missing.';
      throw new CliFailure('unavailable', message, { cause: error });
    },
  );
  return { connection, client: new Client({ connection, namespace, dataConverter }) };
}

/** What we send must be as the workers expect it, so unusable keys are no reason to go on without. */
function converterOf({ payloadKeysFile }: Profile, create: typeof createDataConverter): DataConverter {
  try {
    return create({ SVERKA_PAYLOAD_KEYS_FILE: payloadKeysFile ?? undefined });
  } catch (error) {
    throw new CliFailure('usage', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function confirm(io: CliProcess, flags: Flags, question: string): Promise<boolean> {
  if (flags.yes) return true;
  if (!io.stdin.isTTY || !io.stderr.isTTY) {
    throw new CliFailure('usage', 'This asks before it acts, and there is no terminal to ask on. Say --yes.');
  }
  const prompt = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const closed = once(prompt, 'close').then(() => null);
    // Ctrl-C and Ctrl-D close the prompt: they mean no, and leave the cursor behind the question.
    const answer = await Promise.race([prompt.question(`${question} [y/N] `).catch(() => null), closed]);
    if (answer === null) io.stderr.write('\n');
    return /^y(es)?$/i.test(answer?.trim() ?? '');
  } finally {
    prompt.close();
  }
}
