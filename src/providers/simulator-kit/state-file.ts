import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface StateFile {
  /** What was written last, or null when there is no such file or no sense in it. */
  read(): unknown;
  /** Writes soon; calls that come close together are one write. */
  save(): void;
  /** Writes a last time; later calls of `save` do nothing. */
  close(): void;
}

const SAVE_AFTER_MS = 50;
/** A large world is written less often, so that writing takes a twentieth of the time at most. */
const PAUSE_PER_WRITE = 20;

/**
 * Keeps a simulator's world over a restart: a provider does not forget because a process of ours died. A kill within
 * the last 50 ms can still lose a change. Readable by this user alone.
 */
export function createStateFile(file: string, snapshot: () => unknown): StateFile {
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  let pauseMs = SAVE_AFTER_MS;
  const write = () => {
    const started = performance.now();
    timer = null;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, JSON.stringify(snapshot()), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    pauseMs = Math.max(SAVE_AFTER_MS, PAUSE_PER_WRITE * (performance.now() - started));
  };
  return {
    read() {
      try {
        return JSON.parse(readFileSync(file, 'utf8'));
      } catch {
        return null;
      }
    },
    save() {
      if (!closed) timer ??= setTimeout(write, pauseMs);
    },
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      write();
    },
  };
}
