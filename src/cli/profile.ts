import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { REPOSITORY } from '../local/paths.js';
import { errorCode } from '../local/process-info.js';
import { type RunFile, readRunFile } from '../local/run-file.js';
import { CliFailure } from './failure.js';

/** Where a command finds the product it speaks to. */
export interface Profile {
  readonly name: string;
  /** The file that says it: `run.json`, or that of the profiles. */
  readonly file: string;
  /** The console role's. */
  readonly databaseUrl: string;
  readonly temporalAddress: string | null;
  readonly temporalNamespace: string;
  readonly taskQueue: string;
  /** The keys of payloads in Temporal; null where none are encrypted. */
  readonly payloadKeysFile: string | null;
  readonly gatewayUrl: string | null;
  /** Ops listeners by process; empty where the profile does not name them. */
  readonly opsUrls: Readonly<Record<string, string>>;
  /** What the local run wrote; null for every other profile. */
  readonly run: Partial<RunFile> | null;
}

export const LOCAL_PROFILE = 'local';

/**
 * The profile of that name: `local` reads `run.json`, any other stands in the file of profiles. Throws `unavailable`
 * when nothing runs here, and `usage` for a name that no file knows or an entry that cannot be used.
 */
export function loadProfile(name: string, env: NodeJS.ProcessEnv): Profile {
  return name === LOCAL_PROFILE ? localProfile(env) : namedProfile(name, env);
}

/** Where `run.json` lies: as in src/local/paths.ts, which would also make the folder. */
export function runFilePath(env: NodeJS.ProcessEnv): string {
  return join(resolve(REPOSITORY, env['SVERKA_STATE_DIR'] || '.sverka'), 'run.json');
}

/** `$XDG_CONFIG_HOME/sverka/profiles.json`, by default below `~/.config`. */
export function profilesPath(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'sverka', 'profiles.json');
}

function localProfile(env: NodeJS.ProcessEnv): Profile {
  const file = runFilePath(env);
  const run = readRunFile(file);
  if (run === null) {
    throw new CliFailure('unavailable', `Nothing runs here: there is no ${file}. ${START_OR_NAME}`);
  }
  const databaseUrl = run.databaseUrls?.console;
  if (databaseUrl === undefined) {
    throw new CliFailure(
      'unavailable',
      `The start is not as far yet: ${file} names no database. Try again in a moment.`,
    );
  }
  return {
    name: LOCAL_PROFILE,
    file,
    databaseUrl,
    temporalAddress: run.temporalAddress ?? null,
    temporalNamespace: run.temporalNamespace ?? 'default',
    taskQueue: run.taskQueue ?? TASK_QUEUE,
    payloadKeysFile: run.payloadKeysFile === undefined ? null : resolve(REPOSITORY, run.payloadKeysFile),
    gatewayUrl: run.gatewayUrl ?? null,
    opsUrls: run.opsUrls ?? {},
    run,
  };
}

/** As src/config.ts has it. */
const TASK_QUEUE = 'sverka';
const START_OR_NAME = 'Start it with `npm start`, or name a profile with `--profile <name>`.';

/** An entry of the file of profiles; unknown members are refused, so that a misspelt one does not pass. */
const entrySchema = z.strictObject({
  databaseUrl: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL of the console role'),
  temporalAddress: z.string().min(1).optional(),
  temporalNamespace: z.string().min(1).optional(),
  taskQueue: z.string().min(1).optional(),
  payloadKeysFile: z.string().min(1).optional(),
  gatewayUrl: z.url().optional(),
  opsUrls: z.record(z.string(), z.url()).optional(),
});
const fileSchema = z.record(z.string(), z.unknown());

function namedProfile(name: string, env: NodeJS.ProcessEnv): Profile {
  const file = profilesPath(env);
  const profiles = fileSchema.safeParse(readJson(file));
  if (!profiles.success) {
    throw new CliFailure('usage', `There is no profile ${name}: ${file} is missing, or no JSON object of profiles.`);
  }
  if (!Object.hasOwn(profiles.data, name)) {
    const known = [LOCAL_PROFILE, ...Object.keys(profiles.data)].join(', ');
    throw new CliFailure('usage', `There is no profile ${name} in ${file}. Known: ${known}.`);
  }
  const entry = entrySchema.safeParse(profiles.data[name]);
  if (!entry.success) {
    const wrong = entry.error.issues.map(({ path, message }) => `${[name, ...path].join('.')}: ${message}`).join('; ');
    throw new CliFailure('usage', `${file} cannot be used: ${wrong}.`);
  }
  const { databaseUrl, temporalAddress, temporalNamespace, taskQueue, payloadKeysFile, gatewayUrl, opsUrls } =
    entry.data;
  return {
    name,
    file,
    databaseUrl,
    temporalAddress: temporalAddress ?? null,
    temporalNamespace: temporalNamespace ?? 'default',
    taskQueue: taskQueue ?? TASK_QUEUE,
    // As the file of profiles, it lies where this user keeps his own.
    payloadKeysFile: payloadKeysFile === undefined ? null : resolve(dirname(file), payloadKeysFile),
    gatewayUrl: gatewayUrl ?? null,
    opsUrls: opsUrls ?? {},
    run: null,
  };
}

/** Undefined when there is no such file or no JSON in it. */
function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
