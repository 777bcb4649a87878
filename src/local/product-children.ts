import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildSpec } from './children.js';
import type { KeyFiles } from './key-files.js';
import type { LocalPaths } from './paths.js';
import { type ProviderAccount, providerSettings, SIMULATED_PROVIDERS, simulatedAccounts } from './provider-accounts.js';
import type { LoginRole } from './role-passwords.js';
import type { StackPorts } from './stack-ports.js';

/** Our own processes; each is `src/<name>.ts`. */
export const PRODUCT_PROCESSES = ['simulators', 'worker', 'gateway', 'relay', 'console', 'cabinet'] as const;
/** The codec runs only where payloads are encrypted. */
export type ProductProcess = (typeof PRODUCT_PROCESSES)[number] | 'codec';

export interface ProductSettings {
  readonly env: NodeJS.ProcessEnv;
  readonly paths: LocalPaths;
  readonly ports: StackPorts;
  readonly databaseUrls: Readonly<Record<LoginRole, string>>;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  /** Null where no UI of Temporal is known. */
  readonly temporalUiUrl: string | null;
  readonly taskQueue: string;
  readonly bundlePath: string;
  readonly accounts: readonly ProviderAccount[];
  /** `files` is null where the environment says where keys are. */
  readonly keys: { readonly files: KeyFiles | null; readonly fingerprint: string };
  readonly payloadKeysFile: string | null;
  /** Null where it does not run. */
  readonly codec: { readonly token: string; readonly uiOrigin: string } | null;
}

/** What listens to the world stops first, then the worker, then those it calls. Servers have the stages 0 and 1. */
const STAGES: Readonly<Record<ProductProcess, number>> = {
  simulators: 2,
  worker: 3,
  gateway: 4,
  relay: 4,
  console: 4,
  cabinet: 4,
  codec: 4,
};

/** One of our processes, with the environment that src/config.ts reads. */
export function productChild(name: ProductProcess, settings: ProductSettings): ChildSpec {
  const { paths } = settings;
  const logFile = productLogFile(paths, name);
  if (existsSync(logFile)) renameSync(logFile, join(paths.logs, `${name}.previous.jsonl`));
  return {
    name,
    command: process.execPath,
    // The last argument tells the next start, and a person who looks at `ps`, whose process this is.
    args: ['--import', 'tsx', join(paths.repository, 'src', `${name}.ts`), `--state=${paths.state}`],
    cwd: paths.repository,
    env: {
      ...withoutNpm(settings.env),
      ...common(name, settings),
      ...keySettings(name, settings),
      ...own(name, settings),
      SVERKA_LOG_FILE: logFile,
    },
    logFile: join(paths.logs, `${name}.out`),
    stopSignal: 'SIGTERM',
    stage: STAGES[name],
    isReady: 'message',
  };
}

/** Where the process writes its log, one JSON object a line. */
export function productLogFile(paths: LocalPaths, name: ProductProcess): string {
  return join(paths.logs, `${name}.jsonl`);
}

function common(name: ProductProcess, settings: ProductSettings): NodeJS.ProcessEnv {
  return {
    // The codec has no business there.
    DATABASE_URL: name === 'codec' ? undefined : settings.databaseUrls[name],
    TEMPORAL_ADDRESS: settings.temporalAddress,
    TEMPORAL_NAMESPACE: settings.temporalNamespace,
    SVERKA_TASK_QUEUE: settings.taskQueue,
    SVERKA_OPS_PORT: String(settings.ports[`${name}Ops`]),
    SVERKA_PAYLOAD_KEYS_FILE: settings.payloadKeysFile ?? undefined,
  };
}

/** Only the worker learns where private keys are; the edges get what seals; nobody else gets anything. */
function keySettings(name: ProductProcess, { env, keys }: ProductSettings): NodeJS.ProcessEnv {
  const hidden = Object.keys(env).filter((key) => /^SVERKA_(KEYRING|AWS_KMS|VAULT|PUBLIC_KEYS|FINGERPRINT)_/.test(key));
  const none = Object.fromEntries(hidden.map((key) => [key, undefined]));
  const publicKeys = keys.files?.publicKeys ?? env['SVERKA_PUBLIC_KEYS_FILE'];
  switch (name) {
    case 'worker':
      return keys.files === null ? {} : { SVERKA_KEYRING_FILE: keys.files.keyring };
    case 'gateway':
      return { ...none, SVERKA_PUBLIC_KEYS_FILE: publicKeys, SVERKA_FINGERPRINT_KEY: keys.fingerprint };
    case 'relay':
      return { ...none, SVERKA_PUBLIC_KEYS_FILE: publicKeys };
    default:
      return none;
  }
}

function own(name: ProductProcess, settings: ProductSettings): NodeJS.ProcessEnv {
  const { ports, accounts } = settings;
  const providers = providerSettings(accounts, (provider) => `http://127.0.0.1:${ports[provider]}`);
  const played = SIMULATED_PROVIDERS.map((provider) => {
    return [provider, { port: ports[provider], accounts: simulatedAccounts(accounts, provider) }] as const;
  });
  switch (name) {
    case 'simulators':
      return {
        SVERKA_SIMULATORS: JSON.stringify({
          databaseUrl: settings.databaseUrls.simulators,
          stateDir: join(settings.paths.state, 'simulators'),
          ...Object.fromEntries(played),
        }),
      };
    case 'worker':
      return {
        ...providers,
        SVERKA_METRICS_PORT: String(ports.workerMetrics),
        SVERKA_WORKFLOW_BUNDLE: settings.bundlePath,
      };
    case 'gateway':
      return { ...providers, SVERKA_GATEWAY_PORT: String(ports.gateway) };
    case 'relay':
      return { ...providers, SVERKA_RELAY_PORT: String(ports.relay) };
    case 'console':
      return { ...pages(settings), SVERKA_CONSOLE_PORT: String(ports.console) };
    case 'cabinet':
      return { ...pages(settings), SVERKA_CABINET_PORT: String(ports.cabinet) };
    case 'codec':
      return {
        SVERKA_CODEC_PORT: String(ports.codec),
        SVERKA_CODEC_TOKEN: settings.codec?.token,
        SVERKA_CODEC_UI_ORIGIN: settings.codec?.uiOrigin,
      };
  }
}

/** Where pages are, for links and forms; by name, as cookies that need a secure page are kept for localhost alone. */
function pages({ env, ports, temporalUiUrl }: ProductSettings): NodeJS.ProcessEnv {
  return {
    SVERKA_CONSOLE_URL: env['SVERKA_CONSOLE_URL'] || `http://localhost:${ports.console}`,
    SVERKA_CABINET_URL: env['SVERKA_CABINET_URL'] || `http://localhost:${ports.cabinet}`,
    SVERKA_LOCAL_LINKS: env['SVERKA_LOCAL_LINKS'] || 'on',
    SVERKA_APPROVAL_PASSKEY: env['SVERKA_APPROVAL_PASSKEY'] || 'off',
    SVERKA_TEMPORAL_UI_URL: temporalUiUrl ?? undefined,
  };
}

/** npm describes itself in the environment; to our processes that says nothing. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)));
}
