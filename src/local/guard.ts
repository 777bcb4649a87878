import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What the guard needs to know about a child; a higher stage is ended earlier. */
export interface GuardedChild {
  readonly pid: number;
  readonly signal: NodeJS.Signals;
  readonly stage: number;
}

/** A process that ends our children when we die without having done so. */
export interface Guard {
  pid(): number;
  add(child: GuardedChild): void;
  drop(pid: number): void;
  /** Our children are gone: the guard may leave. */
  done(): void;
}

const PROGRAM = fileURLToPath(new URL('./guard-process.mjs', import.meta.url));
const RESTART_MS = 1_000;

export interface GuardOptions {
  /** Stands on its command line, so that a later start can tell whose it is. */
  readonly label: string;
  /** Says `ready` no longer when we died without having removed it. */
  readonly runFile?: string;
  readonly onPid?: (pid: number) => void;
}

/** Starts the guard in a process group of its own; one that dies is replaced, and `onPid` hears each new pid. */
export function startGuard(options: GuardOptions): Guard {
  const children = new Map<number, GuardedChild>();
  const watched = options.runFile === undefined ? [] : [options.runFile, String(process.pid)];
  let finished = false;
  let guard = launch();
  return {
    pid: () => guard.pid ?? 0,
    add(child) {
      children.set(child.pid, child);
      tell(guard, { add: child });
    },
    drop(pid) {
      children.delete(pid);
      tell(guard, { drop: pid });
    },
    done() {
      finished = true;
      tell(guard, { done: true });
      guard.stdin?.end();
    },
  };

  function launch(): ChildProcess {
    const child = spawn(process.execPath, [PROGRAM, `--state=${options.label}`, ...watched], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    });
    child.unref();
    // A broken pipe only says that the guard is gone; its exit replaces it.
    child.stdin?.on('error', () => {});
    child.on('error', () => {});
    child.on('exit', () => {
      if (!finished) setTimeout(replace, RESTART_MS).unref();
    });
    for (const known of children.values()) tell(child, { add: known });
    if (child.pid !== undefined) options.onPid?.(child.pid);
    return child;
  }

  function replace(): void {
    if (!finished) guard = launch();
  }
}

function tell(guard: ChildProcess, message: object): void {
  if (guard.stdin?.writable) guard.stdin.write(`${JSON.stringify(message)}\n`);
}
