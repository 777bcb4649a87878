import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createSupervisor, type Supervisor } from './children.js';
import { type Guard, startGuard } from './guard.js';
import { ensureFingerprintKey, hasArrangedKeys, type KeyFiles, keyFiles } from './key-files.js';
import { loginLink, writeLoginFile } from './login-file.js';
import { type LocalPaths, relativeToRepository } from './paths.js';
import { type LocalPayloadKeys, localPayloadKeys } from './payload-keys.js';
import { ensureDatabase, preparePostgres, withClient } from './postgres.js';
import type { ProductProcess } from './product-children.js';
import { PRODUCT_PROCESSES, type ProductSettings, productChild, productLogFile } from './product-children.js';
import { type AccountName, providerAccounts, providerHooks, SIMULATED_PROVIDERS } from './provider-accounts.js';
import { registerSearchAttributes } from './register-search-attributes.js';
import { type LoginRole, setRolePasswords } from './role-passwords.js';
import { claimRunFile, type RunFile, type RunFileWriter, type RunLogin } from './run-file.js';
import type { Seeded } from './seed.js';
import { type StackPorts, stackPorts } from './stack-ports.js';
import { temporalChild } from './temporal.js';
import { findTemporalCli } from './temporal-programs.js';
import { ensureWorkflowBundle } from './workflow-bundle.js';

export interface StackOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly paths: LocalPaths;
  /** Payloads in Temporal are encrypted, and the codec runs. */
  readonly encryptPayloads?: boolean;
  /** Brings the owner's database to the newest schema. */
  readonly migrate: (databaseUrl: string) => Promise<{ applied: string[] }>;
  /** Makes the merchants and people of the local run where they are missing; keys and links are new at each start. */
  readonly seed: (databaseUrl: string) => Promise<Seeded>;
  readonly accountName: AccountName;
  /** Makes the keys that seal identities where they are missing; those that are there stay. */
  readonly ensureKeyring: (files: KeyFiles) => void;
  /** One line for a person. */
  readonly notice: (line: string) => void;
}

/** Everything of the product on this machine. */
export interface Stack {
  /** Resolves when all of it is ready. Throws what stands in the way; call `stop` then, too. */
  start(): Promise<RunFile>;
  /** Ends what was started, in order, and removes the run file. May be called at any time. */
  stop(): Promise<void>;
  /** The same at once, without asking anybody. */
  kill(): Promise<void>;
}

const DATABASE = 'sverka';

export function createStack(options: StackOptions): Stack {
  let begun: { runFile: RunFileWriter; guard: Guard; supervisor: Supervisor } | null = null;
  const end = async (how: 'stop' | 'kill') => {
    await begun?.supervisor[how]();
    begun?.guard.done();
    begun?.runFile.remove();
  };
  return {
    async start() {
      const runFile = await claimRunFile(options.paths);
      options.notice('Starting PostgreSQL, Temporal and Sverka …');
      const guard = startGuard({
        label: options.paths.state,
        runFile: options.paths.runFile,
        onPid: (pid) => runFile.put('pids', 'guard', pid),
      });
      const onPid = (name: string, pid: number) => runFile.put('pids', name, pid);
      const supervisor = createSupervisor({ guard, onPid, onNotice: options.notice });
      begun = { runFile, guard, supervisor };
      const ports = await stackPorts(options.env, options.paths.state);
      return startParts({ options, runFile, supervisor, ports });
    },
    stop: () => end('stop'),
    kill: () => end('kill'),
  };
}

interface Parts {
  readonly options: StackOptions;
  readonly runFile: RunFileWriter;
  readonly supervisor: Supervisor;
  readonly ports: StackPorts;
}

async function startParts(parts: Parts): Promise<RunFile> {
  const { options, runFile, ports } = parts;
  const { paths, env } = options;
  const relayUrl = `http://127.0.0.1:${ports.relay}`;
  const accounts = providerAccounts(env, relayUrl, options.accountName);
  const taskQueue = env['SVERKA_TASK_QUEUE'] || 'sverka';
  const payloadKeys = localPayloadKeys({ env, state: paths.state, encrypt: options.encryptPayloads === true });
  const [databaseUrls, temporal, bundlePath] = await Promise.all([
    startDatabase(parts),
    startTemporal(parts, payloadKeys),
    ensureWorkflowBundle({ repository: paths.repository, folder: paths.bundles }),
  ]);
  runFile.set({ taskQueue, hooks: providerHooks(accounts) });
  const settings = {
    ...{ env, paths, ports, databaseUrls, ...temporal, taskQueue, bundlePath, accounts },
    keys: makeKeys(options),
    payloadKeysFile: payloadKeys.file,
    codec: codecAccess(parts, payloadKeys),
  };
  if (payloadKeys.file !== null) runFile.set({ payloadKeysFile: relativeToRepository(payloadKeys.file) });
  const processes = payloadKeys.encrypts ? [...PRODUCT_PROCESSES, 'codec' as const] : PRODUCT_PROCESSES;
  await Promise.all(processes.map((name) => startProduct(name, { parts, settings })));
  if (!payloadKeys.encrypts) runFile.set({ codecUrl: null });
  runFile.set({ ready: true });
  // Every member was set above, in the order in which things became ready.
  return runFile.current() as RunFile;
}

function makeKeys({ env, paths, ensureKeyring }: StackOptions): ProductSettings['keys'] {
  const fingerprint = env['SVERKA_FINGERPRINT_KEY'] || ensureFingerprintKey(paths.state);
  if (hasArrangedKeys(env)) return { files: null, fingerprint };
  const files = keyFiles(paths.state);
  ensureKeyring(files);
  return { files, fingerprint };
}

async function startDatabase(parts: Parts): Promise<Record<LoginRole, string>> {
  const { options, runFile } = parts;
  const databaseUrl = options.env['DATABASE_URL'] || (await startPostgres(parts));
  await checkDatabase(databaseUrl);
  await options.migrate(databaseUrl);
  const databaseUrls = await setRolePasswords(databaseUrl);
  const { merchants, sources, people } = await options.seed(databaseUrl);
  const logins = people.map((person) => leaveLink(parts, person));
  runFile.set({ databaseUrl, databaseUrls, merchants, sources, logins });
  return databaseUrls;
}

function leaveLink({ options, ports }: Parts, { login, role, at, token }: Seeded['people'][number]): RunLogin {
  const file = join(options.paths.logins, login);
  writeLoginFile(file, loginLink(pagesUrl(at, { env: options.env, ports }), token));
  return { user: login, role, at, linkFile: relativeToRepository(file) };
}

/** By name, not by number: cookies that need a secure page are kept for localhost alone. */
function pagesUrl(at: RunLogin['at'], { env, ports }: { env: NodeJS.ProcessEnv; ports: StackPorts }): string {
  const origin = env[`SVERKA_${at.toUpperCase()}_URL`] || `http://localhost:${ports[at]}`;
  return `${origin}${at === 'console' ? '/operator' : '/cabinet'}`;
}

async function startPostgres({ options, supervisor, ports, runFile }: Parts): Promise<string> {
  const { paths, notice } = options;
  const logFile = join(paths.logs, 'postgres.log');
  const server = await preparePostgres({ state: paths.state, port: ports.postgres, logFile });
  if (!server.dataFolder.startsWith(paths.state)) {
    notice(`PostgreSQL's user cannot reach ${paths.state}, so its data and a copy of its programs lie elsewhere:`);
    notice(`  ${server.dataFolder}`);
  }
  await supervisor.start(server.child);
  runFile.put('logFiles', 'postgres', relativeToRepository(logFile));
  await ensureDatabase({ adminUrl: server.url('postgres'), name: DATABASE });
  return server.url(DATABASE);
}

async function checkDatabase(url: string): Promise<void> {
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The database does not answer (${reason}). Correct DATABASE_URL, or unset it to have one started.`);
  }
}

/** Whom the codec answers; the UI of somebody else's Temporal is named by SVERKA_CODEC_UI_ORIGIN. */
function codecAccess({ options, ports }: Parts, { encrypts }: LocalPayloadKeys): ProductSettings['codec'] {
  if (!encrypts) return null;
  const { SVERKA_CODEC_TOKEN: token, SVERKA_CODEC_UI_ORIGIN: uiOrigin } = options.env;
  return {
    token: token || randomBytes(32).toString('base64url'),
    uiOrigin: uiOrigin || `http://127.0.0.1:${ports.temporalUi}`,
  };
}

async function startTemporal({ options, supervisor, ports, runFile }: Parts, { encrypts }: LocalPayloadKeys) {
  const { env, paths } = options;
  const temporalNamespace = env['TEMPORAL_NAMESPACE'] || 'default';
  const external = env['TEMPORAL_ADDRESS'];
  if (external) {
    await registerSearchAttributes({ address: external, namespace: temporalNamespace });
    runFile.set({ temporalAddress: external, temporalNamespace });
    return { temporalAddress: external, temporalNamespace, temporalUiUrl: env['SVERKA_TEMPORAL_UI_URL'] || null };
  }
  const temporalAddress = `127.0.0.1:${ports.temporal}`;
  const temporalUiUrl = `http://127.0.0.1:${ports.temporalUi}`;
  const logFile = join(paths.logs, 'temporal.log');
  const program = await findTemporalCli(env, paths);
  const codecEndpoint = encrypts ? `http://127.0.0.1:${ports.codec}/codec` : undefined;
  const place = { store: paths.temporalStore, cwd: paths.state, logFile, namespace: temporalNamespace, codecEndpoint };
  await supervisor.start(temporalChild({ program, port: ports.temporal, uiPort: ports.temporalUi, ...place }));
  runFile.put('logFiles', 'temporal', relativeToRepository(logFile));
  runFile.set({ temporalAddress, temporalNamespace, temporalUiUrl });
  return { temporalAddress, temporalNamespace, temporalUiUrl };
}

async function startProduct(name: ProductProcess, input: { parts: Parts; settings: ProductSettings }): Promise<void> {
  const { runFile, ports, supervisor, options } = input.parts;
  await supervisor.start(productChild(name, input.settings));
  const ops = `http://127.0.0.1:${ports[`${name}Ops`]}`;
  runFile.put('opsUrls', name, ops);
  runFile.put('logFiles', name, relativeToRepository(productLogFile(options.paths, name)));
  if (name === 'simulators') {
    for (const provider of SIMULATED_PROVIDERS) {
      runFile.put('simulators', provider, { url: `http://127.0.0.1:${ports[provider]}` });
    }
    return;
  }
  const metrics = name === 'worker' ? `http://127.0.0.1:${ports.workerMetrics}` : ops;
  runFile.put('metricsUrls', name, `${metrics}/metrics`);
  if (name === 'codec') {
    runFile.set({ codecUrl: `http://127.0.0.1:${ports.codec}`, codecToken: input.settings.codec?.token ?? '' });
  }
  if (name === 'gateway') runFile.set({ gatewayUrl: `http://127.0.0.1:${ports.gateway}` });
  if (name === 'relay') runFile.set({ relayUrl: `http://127.0.0.1:${ports.relay}` });
  if (name === 'console') runFile.set({ consoleUrl: pagesUrl(name, { env: options.env, ports }) });
  if (name === 'cabinet') runFile.set({ cabinetUrl: pagesUrl(name, { env: options.env, ports }) });
}
