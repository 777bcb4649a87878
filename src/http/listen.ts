import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';

export interface Listener {
  /** `http://127.0.0.1:41001`, without a path. */
  readonly url: string;
  readonly port: number;
  /** Stops accepting, lets running calls end within `boundMs`, then cuts what is left. */
  close(boundMs: number): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 5_000;

/** Serves `fetch` on a port of its own; port 0 is any free one. Throws when the port is taken. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  options: { host: string; port: number },
): Promise<Listener> {
  const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (incoming, outgoing) => void answer(incoming, outgoing),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, port, close: (boundMs) => closeServer(server, boundMs) };
}

function closeServer(server: Server, boundMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), boundMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
