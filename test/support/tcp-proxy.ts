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
  /** New connections are taken and then hear nothing. */
  holdNewConnections(): void;
  /** Ends those held; new ones pass again. */
  letGo(): void;
  close(): Promise<void>;
}

export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cutting = false;
  let holding = false;
  const server = createServer((client) => {
    keep(client);
    if (holding) return;
    const upstream = keep(connect(Number(port), hostname));
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => {
      if (!cutting) return void client.write(bytes);
      cutting = false;
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
