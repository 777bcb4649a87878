import { type Config, loadConfig } from './config.js';
import type { Log } from './telemetry/log.js';

/** An ordered stop that takes longer than this is cut. */
const STOP_MS = 15_000;

/** Frames of a stack that are worth a look when a process does not come up. */
const FRAMES_MAX = 3;

/**
 * The configuration of this process. From here until it is ready, what stands in the way ends it with code 1 and a few
 * lines on stderr: the message, its cause, and where in our code a bug is.
 */
export function beginProcess(): Config {
  process.once('uncaughtException', endBeforeReady);
  try {
    return loadConfig();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

function endBeforeReady(error: Error): void {
  const cause = error.cause instanceof Error ? [`  because: ${error.cause.message}`] : [];
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ +at .*\/src\//.test(line));
  process.stderr.write(`${[error.message, ...cause, ...frames.slice(0, FRAMES_MAX)].join('\n')}\n`);
  process.exit(1);
}

/**
 * Says that the process is ready (to a parent that listens), waits until it shall stop, then stops it in order.
 * SIGTERM, SIGINT and the loss of the parent are the same wish; `failed` ends it with exit code 1.
 */
export async function runUntilStopped(options: {
  log: Log;
  stop: () => Promise<void>;
  failed?: Promise<unknown>;
}): Promise<never> {
  const { log, stop, failed } = options;
  process.removeListener('uncaughtException', endBeforeReady);
  if (process.connected) process.send?.({ ready: true });
  log.info('ready', { pid: process.pid });
  const asked = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
    process.on('disconnect', () => resolve('disconnect'));
  });
  const broken = failed?.then(
    () => 'ended',
    (error: unknown) => {
      log.fatal('the process cannot go on', { error });
      return 'failed';
    },
  );
  const signal = await (broken ? Promise.race([asked, broken]) : asked);
  log.info('stopping', { signal });
  const cut = setTimeout(() => process.exit(1), STOP_MS);
  await stop().catch((error: unknown) => log.error('the stop was not clean', { error }));
  clearTimeout(cut);
  process.exit(signal === 'failed' ? 1 : 0);
}
