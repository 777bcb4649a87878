import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a client and PostgreSQL and counts what the client waits for. */
export interface RoundTripCounter {
  /** The same database by way of the counter. */
  readonly url: string;
  /** Round trips since the last call. */
  take(): number;
  close(): Promise<void>;
}

/** Messages that PostgreSQL answers with ReadyForQuery: a simple query and a Sync. */
const ANSWERED = new Set([0x51, 0x53]);
const TYPE_AND_LENGTH = 5;

/**
 * Counts on the wire, so that nothing a driver does by itself is overlooked. It costs time: never let a timed round go
 * through it.
 */
export async function countRoundTrips(databaseUrl: string): Promise<RoundTripCounter> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let counted = 0;
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    const count = messageCounter(() => (counted += 1));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // The other end is told by the pipe; what a cut connection means is its client's business.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', count);
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    take() {
      const taken = counted;
      counted = 0;
      return taken;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Reads a client's messages across chunks; the first one of a connection (its start) has no type. */
function messageCounter(onAnswered: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const header = started ? TYPE_AND_LENGTH : TYPE_AND_LENGTH - 1;
      if (rest.length < header) return;
      const end = started ? 1 + rest.readInt32BE(1) : rest.readInt32BE(0);
      if (rest.length < end) return;
      if (started && ANSWERED.has(rest[0] ?? 0)) onAnswered();
      started = true;
      rest = rest.subarray(end);
    }
  };
}
