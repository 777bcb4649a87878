import type { Log } from './telemetry/log.js';

/** An ordered stop that takes longer than this is cut. */
const STOP_MS = 15_000;

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
