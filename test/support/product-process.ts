import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../../src/local/paths.js';
import { freePort } from '../../src/local/ports.js';

/** One of the product's own processes, as it is started in production. */
export interface ProductProcess {
  /** Where it answers; the worker answers nothing here. */
  readonly url: string;
  /** Where it says how it is. */
  readonly opsUrl: string;
  /** False once it has ended. */
  isRunning(): boolean;
  /** SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void;
  /** Its log so far, a line each. */
  log(): Record<string, unknown>[];
  /** An ordered stop; answers its exit code. SIGKILL where it is stopped by a signal. */
  stop(): Promise<number | null>;
}

const PORT = {
  gateway: 'SVERKA_GATEWAY_PORT',
  relay: 'SVERKA_RELAY_PORT',
  worker: 'SVERKA_METRICS_PORT',
  console: 'SVERKA_CONSOLE_PORT',
  cabinet: 'SVERKA_CABINET_PORT',
} as const;

/** Starts `src/<name>.ts` with these settings on free ports and resolves when it says that it is ready. */
export async function startProduct(
  name: keyof typeof PORT,
  env: Readonly<Record<string, string>>,
  at: { port?: number } = {},
): Promise<ProductProcess> {
  const [port, opsPort] = [at.port ?? (await freePort()), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), `sverka-${name}-`));
  const logFile = join(folder, 'log.jsonl');
  const child: ChildProcess = fork(join(REPOSITORY, `src/${name}.ts`), {
    cwd: REPOSITORY,
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...env,
      [PORT[name]]: String(port),
      SVERKA_OPS_PORT: String(opsPort),
      SVERKA_LOG_FILE: logFile,
      SVERKA_LOG_LEVEL: 'debug',
    },
  });
  const gone = once(child, 'exit');
  const ended = gone.then(([code]) => {
    throw new Error(`The ${name} ended with ${String(code)} before it was ready; what it said is above.`);
  });
  await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  let stopped = false;
  return {
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    isRunning,
    signal(signal) {
      stopped = signal === 'SIGSTOP' || (stopped && signal !== 'SIGCONT');
      child.kill(signal);
    },
    log: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    async stop() {
      if (isRunning()) child.kill(stopped ? 'SIGKILL' : 'SIGTERM');
      const [code] = await gone;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}
