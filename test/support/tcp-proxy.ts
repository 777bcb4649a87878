import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A wire to a server that can be cut. */
export interface TcpProxy {
  /** The server's URL, by way of this proxy. */
  readonly url: string;
  /** Ends all connections now. */
  cutAll(): void;
  /** Lets what the client sends next reach the server, and ends the connection instead of passing on the answer. */
  cutBeforeTheNextAnswer(): void;
  /** Does that for the next so many COMMITs of any connection: each is forwarded, its answer never arrives. */
  cutAfterCommits(count: number): void;
  /** How many COMMITs were cut off so. */
  commitsCut(): number;
  /** New connections are taken and then hear nothing. */
  holdNewConnections(): void;
  /** Ends those held; new ones pass again. */
  letGo(): void;
  close(): Promise<void>;
}

/** A whole query message of PostgreSQL's protocol: kind, length, text, NUL. */
const COMMIT = Buffer.from('Q\0\0\0\u000bCOMMIT\0');

export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cutting = false;
  let holding = false;
  let commitsToCut = 0;
  let commitsCut = 0;
  const server = createServer((client) => {
    keep(client);
    if (holding) return;
    const upstream = keep(connect(Number(port), hostname));
    let ambiguous = false;
    client.on('data', (bytes: Buffer) => {
      if (commitsToCut > 0 && bytes.includes(COMMIT)) {
        commitsToCut -= 1;
        ambiguous = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!cutting && !ambiguous) return void client.write(bytes);
      if (ambiguous) commitsCut += 1;
      else cutting = false;
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

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  }
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cutAll,
    cutBeforeTheNextAnswer: () => {
      cutting = true;
    },
    cutAfterCommits: (count) => {
      commitsToCut = count;
    },
    commitsCut: () => commitsCut,
    holdNewConnections: () => {
      holding = true;
    },
    letGo: () => {
      holding = false;
      cutAll();
    },
    close: async () => {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
