import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { LOSE_MARK } from './crash-steps.js';

/** A wire to PostgreSQL that passes everything on but the answers to marked statements: those cut the connection. */
export interface AnswerCutter {
  /** The server's URL, by way of this wire. */
  readonly url: string;
  /** Marked statements that reached the server and whose answer did not come back. */
  cuts(): number;
  close(): Promise<void>;
}

export async function openAnswerCutter(target: string): Promise<AnswerCutter> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A cut is what this is for.
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const server = createServer((client) => {
    keep(client);
    const upstream = keep(connect(Number(port), hostname));
    let marked = false;
    client.on('data', (bytes) => {
      marked ||= bytes.includes(LOSE_MARK);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!marked) return void client.write(bytes);
      // PostgreSQL answers a commit when it is durable: what is cut here has happened.
      if (!client.destroyed) cuts += 1;
      client.destroy();
      upstream.end();
    });
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
