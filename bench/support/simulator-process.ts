import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../src/local/ports.js';
import { createCustodyClient } from '../../src/providers/custody/client.js';
import { startProcess } from './processes.js';
import type { BenchDatabase, BenchServers } from './servers.js';
import { CUSTODY, ISSUER } from './settings.js';

/** The real simulated custodian and issuer, in the process that the product starts for them. */
export interface SimulatorProcess {
  readonly pid: number;
  readonly url: string;
  readonly issuerUrl: string;
  /** An address of the live account under that reference of ours. */
  makeAddress(reference: string): Promise<string>;
  /** A transfer arrives; answers its id. */
  arrive(deposit: object): Promise<string>;
  change(id: string, members: object): Promise<void>;
  /** One call to the issuer's `/_sim…`; throws when it is refused. */
  driveIssuer<T>(method: string, path: string, body?: object): Promise<T>;
  stop(): Promise<void>;
}

const TIMEOUT_MS = 10_000;

/** Its webhooks go to a server here that takes them and does nothing: the benchmark nudges by itself. */
export async function startSimulator(servers: BenchServers, database: BenchDatabase): Promise<SimulatorProcess> {
  const hooks = createServer((request, response) => {
    request.resume();
    request.once('end', () => response.end());
  });
  hooks.listen(0, '127.0.0.1');
  await once(hooks, 'listening');
  const hookUrl = `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/hooks`;
  const [port, issuerPort] = [await freePort(), await freePort()];
  const { book, apiKey, secret } = CUSTODY;
  const started = await startProcess(servers, {
    file: 'src/simulators.ts',
    name: 'simulators',
    env: {
      DATABASE_URL: database.urlFor('simulators'),
      SVERKA_SIMULATORS: JSON.stringify({
        databaseUrl: database.urlFor('simulators'),
        custody: { port, accounts: [{ book, apiKey, hookUrl, webhookSecret: secret }] },
        issuer: {
          port: issuerPort,
          accounts: [{ book, apiKey: ISSUER.apiKey, hookUrl, webhookSecret: ISSUER.secret }],
        },
      }),
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const client = createCustodyClient({ url, apiKey, timeoutMs: TIMEOUT_MS });
  const issuerUrl = `http://127.0.0.1:${issuerPort}`;
  const drive = (method: string, path: string, body: object) => driveAt<{ id: string }>(url + path, method, body);
  return {
    pid: started.pid,
    url,
    issuerUrl,
    makeAddress: async (reference) =>
      (await client.createAddress({ reference, network: 'tron', asset: 'USDT-TRC20', settleIn: null })).address,
    arrive: async (deposit) => (await drive('POST', '/_sim/deposits', deposit)).id,
    change: async (id, members) => void (await drive('PATCH', `/_sim/deposits/${id}`, members)),
    driveIssuer: (method, path, body) => driveAt(issuerUrl + path, method, body),
    async stop() {
      await client.close();
      await started.stop();
      hooks.close();
      hooks.closeAllConnections();
    },
  };
}

async function driveAt<T>(url: string, method: string, body?: object): Promise<T> {
  const answer = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
