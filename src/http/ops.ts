import { errorClass } from './error-class.js';
import { listen } from './listen.js';

/** One thing a process leans on. `check` answers null when it is well, else a class such as `schema_behind`. */
export interface OpsCheck {
  readonly name: string;
  /** A required one that fails makes the process not ready (503); a watched one makes it `degraded` (still 200). */
  readonly required: boolean;
  readonly check: () => Promise<string | null>;
}

export interface OpsOptions {
  readonly process: string;
  readonly host: string;
  readonly port: number;
  readonly checks: readonly OpsCheck[];
  /** Prometheus text; absent where the process's metrics stand on a port of their own. */
  readonly metrics?: () => Promise<string>;
  /** False when the process should be restarted, for reasons beside a stuck event loop. */
  readonly live?: () => boolean;
}

export interface Ops {
  readonly url: string;
  close(): Promise<void>;
  /** From now on `/readyz` answers 503: the first step of an ordered stop. */
  shuttingDown(): void;
}

interface CheckResult {
  name: string;
  required: boolean;
  ok: boolean;
  ms: number;
  detail: string | null;
}

/** The whole of `/readyz` answers within 3 s (API.md 8). */
const CHECK_TIMEOUT_MS = 2_500;
const LOOP_DELAY_MS_MAX = 2_000;

/** Starts the ops listener of a process: `/livez`, `/readyz`, `/metrics`. It shows classes, never hosts or errors. */
export async function startOps(options: OpsOptions): Promise<Ops> {
  let stopping = false;
  const runChecks = coalesce(() => Promise.all(options.checks.map(runCheck)));

  const listener = await listen(
    async (request) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return answer(405, { status: 'method_not_allowed' }, { allow: 'GET, HEAD' });
      }
      const path = new URL(request.url).pathname;
      if (path === '/livez') return livez(options);
      if (path === '/readyz') return stopping ? stoppingAnswer() : readyz(await runChecks());
      if (path === '/metrics' && options.metrics) return metricsAnswer(await options.metrics());
      return answer(404, { status: 'not_found' });
    },
    { host: options.host, port: options.port },
  );
  return {
    url: listener.url,
    close: () => listener.close(0),
    shuttingDown: () => {
      stopping = true;
    },
  };
}

async function livez(options: OpsOptions): Promise<Response> {
  const asked = performance.now();
  // One full turn of the event loop, as everything else in this process has to wait for it.
  await new Promise((resolve) => setTimeout(resolve, 1));
  const turns = performance.now() - asked < LOOP_DELAY_MS_MAX;
  const alive = turns && (options.live?.() ?? true);
  return answer(alive ? 200 : 503, { status: alive ? 'ok' : 'failed' });
}

function readyz(checks: readonly CheckResult[]): Response {
  const failed = checks.filter((check) => !check.ok);
  const status = failed.some((check) => check.required) ? 'failed' : failed.length > 0 ? 'degraded' : 'ok';
  return answer(status === 'failed' ? 503 : 200, { status, checks });
}

function stoppingAnswer(): Response {
  return readyz([{ name: 'running', required: true, ok: false, ms: 0, detail: 'shutting_down' }]);
}

async function runCheck({ name, required, check }: OpsCheck): Promise<CheckResult> {
  const began = performance.now();
  const detail = await bounded(check).catch(errorClass);
  return { name, required, ok: detail === null, ms: Math.round(performance.now() - began), detail };
}

function bounded(check: () => Promise<string | null>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), CHECK_TIMEOUT_MS);
  });
  return Promise.race([check(), late]).finally(() => clearTimeout(timer));
}

// Probes that come while one runs share its answer: a hanging dependency must not pile up connections.
function coalesce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}

function metricsAnswer(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
}

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  });
}
