/** A stop that hangs must not keep the process: it ends itself after this time. */
const STOP_WITHIN_MS = 9_000;

/**
 * Runs `stop` once, at the first of SIGTERM, SIGINT and the end of the parent's ipc channel, then ends the process:
 * with 0, or with 1 when the stop failed or took too long.
 */
export function onStop(stop: () => Promise<void>): void {
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', begin);
  process.on('SIGINT', begin);
  process.on('disconnect', begin);
}
