import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchServers } from './servers.js';

/** A process of ours beside this one; it ends when this one is gone, for it loses its channel. */
export interface BenchProcess {
  readonly pid: number;
  /** Sends a message and answers the next one that comes back. */
  ask(message: object): Promise<unknown>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;
const ANSWER_WITHIN_MS = 600_000;
const STOP_WITHIN_MS = 20_000;

/**
 * Starts a TypeScript file of the repository and waits until it says `{ready: true}`. Throws with the end of its output
 * when it ends before that.
 */
export async function startProcess(
  servers: BenchServers,
  options: { readonly file: string; readonly name: string; readonly env?: Readonly<Record<string, string>> },
): Promise<BenchProcess> {
  const logFile = join(servers.folder, `${options.name}.out`);
  const output = openSync(logFile, 'w', 0o600);
  const child = spawn(process.execPath, ['--import', 'tsx', join(servers.repository, options.file)], {
    cwd: servers.repository,
    env: { ...bareEnvironment(), ...options.env },
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  const died = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const end = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
      reject(new Error(`${options.name} ended (${signal ?? code}). The end of its output:\n${end}`));
    });
  });
  // Whoever asks hears of it; a stop that was wished is nobody's error.
  died.catch(() => undefined);
  await Promise.race([died, nextMessage(child, READY_WITHIN_MS)]);
  return {
    pid: child.pid ?? 0,
    async ask(message) {
      const answer = nextMessage(child, ANSWER_WITHIN_MS);
      child.send(message);
      return Promise.race([died, answer]);
    },
    stop: () => stopChild(child),
  };
}

function nextMessage(child: ChildProcess, withinMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`A process said nothing for ${withinMs / 1_000} s.`)), withinMs);
    // One that has died does not keep us here; whoever asks hears of it elsewhere.
    late.unref();
    child.once('message', (message) => {
      clearTimeout(late);
      resolve(message);
    });
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(late);
}

/** Nothing of a developer's own settings. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(kept), TZ: 'UTC' };
}
