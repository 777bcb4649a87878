import { commandLine, isRunning, parentOf } from './process-info.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_EVERY_MS = 500;

/**
 * Calls `stop` at the first SIGINT, SIGTERM or SIGHUP, or when the npm that started us was killed, and `kill` at the
 * second Ctrl-C. `env` tells whether npm started us.
 */
export function onStopSignals(env: NodeJS.ProcessEnv, act: { stop(reason: string): void; kill(): void }): void {
  let stopping = false;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stopping && signal === 'SIGINT') act.kill();
      if (stopping) return;
      stopping = true;
      act.stop(signal);
    });
  }
  if (!env['npm_lifecycle_event']) return;
  const ancestors = npmAncestors();
  const timer = setInterval(() => {
    if (stopping || ancestors.every(isRunning)) return;
    stopping = true;
    act.stop('npm has ended');
  }, PARENT_EVERY_MS);
  timer.unref();
}

/** Our parent, and npm above it when npm put a shell between: a killed npm tells nobody. */
function npmAncestors(): number[] {
  const shell = process.ppid;
  if (/\bnpm\b/.test(commandLine(shell) ?? '')) return [shell];
  const npm = parentOf(shell);
  return npm !== null && /\bnpm\b/.test(commandLine(npm) ?? '') ? [shell, npm] : [shell];
}
