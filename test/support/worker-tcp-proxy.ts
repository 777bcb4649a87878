import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to Temporal that a test can cut. */
export interface TcpProxy {
  readonly address: string;
  /** Bytes sent towards the server so far. */
  sent(): number;
  /** Cuts every connection now; `refuse` takes no new ones either, until `mend`. */
  cut(options?: { refuse: boolean }): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host = '', port] = target.split(':');
  const pairs = new Set<Socket>();
  let sent = 0;
  let refusing = false;
  const server = createServer((from) => {
    if (refusing) {
      from.destroy();
      return;
    }
    const to = connect({ host, port: Number(port) });
    for (const [one, two] of [
      [from, to],
      [to, from],
    ] as const) {
      pairs.add(one);
      one.on('close', () => {
        pairs.delete(one);
        two.destroy();
      });
      // A cut is what this is for.
      one.on('error', () => one.destroy());
    }
    from.on('data', (bytes) => {
      sent += bytes.length;
    });
    from.pipe(to);
    to.pipe(from);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  const cut = (options?: { refuse: boolean }) => {
    refusing = options?.refuse ?? false;
    for (const socket of pairs) socket.destroy();
  };
  return {
    address: `127.0.0.1:${own}`,
    sent: () => sent,
    cut,
    mend() {
      refusing = false;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
