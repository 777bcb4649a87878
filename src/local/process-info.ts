import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** True while the process runs. A zombie does not count: in a container without an init nobody reaps it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  return !/^\d+ \(.*\) Z/s.test(readProc(pid, 'stat') ?? '');
}

/** The arguments of a running process joined by spaces, or null: compare before ending a pid read from a file. */
export function commandLine(pid: number): string | null {
  if (process.platform === 'linux') return readProc(pid, 'cmdline')?.replaceAll('\0', ' ').trim() || null;
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || null;
}

/** The pid of a process's parent, or null when that process is gone. */
export function parentOf(pid: number): number | null {
  const text =
    process.platform === 'linux'
      ? readProc(pid, 'stat')
          ?.replace(/^.*\) /s, '')
          .split(' ')[1]
      : spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  const parent = Number.parseInt(text ?? '', 10);
  return Number.isNaN(parent) ? null : parent;
}

/** Sends a signal to a pid, or to a whole group by its negative pid. False when nobody is there. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (['ESRCH', 'EPERM'].includes(errorCode(error))) return false;
    throw error;
  }
}

/** Ends a process that is not our child: the signal, then SIGKILL for its group after `graceMs` milliseconds. */
export async function endProcess(input: { pid: number; signal: NodeJS.Signals; graceMs: number }): Promise<void> {
  sendSignal(input.pid, input.signal);
  const until = Date.now() + input.graceMs;
  while (isRunning(input.pid) && Date.now() < until) await pause(20);
  sendSignal(-input.pid, 'SIGKILL');
  if (isRunning(input.pid)) sendSignal(input.pid, 'SIGKILL');
}

/** The `code` of a Node.js or driver error, or an empty text. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function readProc(pid: number, file: 'stat' | 'cmdline'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // The process ended while we looked.
    return null;
  }
}
