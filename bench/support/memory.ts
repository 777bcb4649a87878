import type { Reading } from './benchmark.js';
import { residentBytes } from './cpu.js';
import { quantileOf, spreadOf } from './statistics.js';

const SAMPLE_MS = 100;
const MEGABYTE = 1_024 * 1_024;

/** Samples the bytes that a process holds until it is stopped; none where there is no /proc. */
export function watchMemory(pid: number): { stop(): number[] } {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(residentBytes(pid) ?? Number.NaN), SAMPLE_MS).unref();
  return {
    stop() {
      clearInterval(timer);
      return samples.filter((bytes) => !Number.isNaN(bytes));
    },
  };
}

/**
 * What a worker holds goes up and down with its garbage collector, so medians are compared: of the last fifth of a pass
 * with the first, and of the last pass with the first.
 */
export function memoryReadings(passes: readonly (readonly number[])[]): Reading[] {
  const seen = passes.map((memory) => memory.map((bytes) => bytes / MEGABYTE)).filter(({ length }) => length >= 10);
  if (seen.length === 0) return [];
  const medianOf = (samples: readonly number[]) => quantileOf(samples, 0.5);
  const within = seen.map((samples) => {
    const fifth = Math.floor(samples.length / 5);
    return medianOf(samples.slice(-fifth)) - medianOf(samples.slice(0, fifth));
  });
  const medians = seen.map(medianOf);
  const over = (medians.at(-1) ?? 0) - (medians[0] ?? 0);
  const target = { atMost: 30 };
  return [
    { what: 'memory growth of the worker in a pass', unit: 'MB', spread: spreadOf(within), target },
    { what: `memory growth over ${seen.length} passes`, unit: 'MB', spread: spreadOf([over]), target },
    { what: 'memory of the worker', unit: 'MB', spread: spreadOf(seen.flat()), target: null },
  ];
}
