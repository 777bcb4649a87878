import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/** Below the range of outgoing connections, one of which could take a port while its owner restarts. */
const LOWEST = 20_000;
const HIGHEST = 31_999;
const ATTEMPTS = 200;

/**
 * A free port on 127.0.0.1 for each name. `wanted` (a person's choice) must be free; `remembered` is used where it is.
 * Throws with the name of a wanted port that somebody else holds.
 */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  wanted: Partial<Record<Name, number>> = {},
  remembered: Partial<Record<Name, number>> = {},
): Promise<Record<Name, number>> {
  const chosen = new Map<Name, number>();
  const taken = () => new Set(chosen.values());
  for (const name of names) {
    const port = wanted[name];
    if (port === undefined || port === 0) continue;
    if (taken().has(port) || !(await isFree(port))) {
      throw new Error(`Port ${port}, which is set for ${name}, is in use. Free it, or set another one.`);
    }
    chosen.set(name, port);
  }
  for (const name of names) {
    if (chosen.has(name)) continue;
    const last = remembered[name];
    const keep = last !== undefined && !taken().has(last) && (await isFree(last));
    chosen.set(name, keep ? last : await freePort(taken()));
  }
  return Object.fromEntries(chosen) as Record<Name, number>;
}

/** One free port on 127.0.0.1 that is not among `taken`. */
export async function freePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new Error(`No free port between ${LOWEST} and ${HIGHEST} on 127.0.0.1. End something that listens there.`);
}

/** True when something accepts connections at this address within a second. */
export function accepts(input: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...input, timeout: 1_000 });
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
    socket.once('timeout', () => answer(false));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}
