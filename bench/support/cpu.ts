import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Processes by what they are; each with what it started, but for those named themselves. */
export type CpuWatch = Readonly<Record<string, number>>;

/**
 * Seconds of CPU that each used while `work` ran, its children counted. Zero for all where there is no /proc. A child
 * that ended meanwhile counts by what its parent was told.
 */
export async function cpuSecondsOf(
  watched: CpuWatch,
  work: () => Promise<void>,
): Promise<Readonly<Record<string, number>>> {
  const before = usedBy(watched);
  await work();
  const after = usedBy(watched);
  return Object.fromEntries(Object.keys(watched).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
}

/** `worker 12.3, postgres 4.5`: milliseconds of CPU an operation. */
export function describeCpu(seconds: Readonly<Record<string, number>>, operations: number): string {
  return Object.entries(seconds)
    .map(([name, used]) => `${name} ${((used * 1_000) / operations).toFixed(2)}`)
    .join(', ');
}

/** Memory that a process holds now, in bytes; null where there is no /proc. */
export function residentBytes(pid: number): number | null {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readIfThere(`/proc/${pid}/status`));
  return found ? Number(found[1]) * 1_024 : null;
}

function usedBy(watched: CpuWatch): Record<string, number> {
  const parents = new Map<number, { parent: number; seconds: number }>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const stat = readIfThere(`/proc/${name}/stat`);
    // The command stands in brackets and may hold blanks.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    if (fields.length < 15) continue;
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0);
    parents.set(Number(name), { parent: fields[1] ?? 0, seconds: ticks / ticksPerSecond() });
  }
  const used = Object.fromEntries(Object.keys(watched).map((name) => [name, 0]));
  const names = new Map(Object.entries(watched).map(([name, pid]) => [pid, name]));
  for (const [pid, { seconds }] of parents) {
    let at = pid;
    while (!names.has(at) && at > 1) at = parents.get(at)?.parent ?? 0;
    const name = names.get(at);
    if (name !== undefined) used[name] = (used[name] ?? 0) + seconds;
  }
  return used;
}

let ticks = 0;

function ticksPerSecond(): number {
  ticks ||= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended, or this machine has no /proc.
    return '';
  }
}
