import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type CustodyClient, createCustodyClient } from '../../src/providers/custody/client.js';
import { startCustodySimulator } from '../../src/providers/custody/simulator.js';
import type { OpenTransactionProbe } from '../../src/providers/simulator-kit/open-transactions.js';
import { closeServer, listen } from '../../src/providers/simulator-kit/serve.js';

/** A secret of a webhook endpoint in tests. */
export const TEST_SECRET = 'test-secret-of-thirty-two-characters';

export interface ReceivedHook {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server of the test's own on loopback; every request goes to `answer` with its whole body. */
export interface TestServer {
  readonly url: string;
  readonly received: ReceivedHook[];
  close(): Promise<void>;
}

export async function startTestServer(
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void,
): Promise<TestServer> {
  const received: ReceivedHook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      received.push({ headers: request.headers, body });
      answer(request, response, body);
    });
  });
  const port = await listen(server, { port: 0 });
  return { url: `http://127.0.0.1:${port}`, received, close: () => closeServer(server) };
}

export interface SimulatedCustody {
  readonly url: string;
  /** A client of the live book's account. */
  readonly live: CustodyClient;
  readonly test: CustodyClient;
  /** What came to the live endpoint. */
  readonly liveHooks: TestServer;
  readonly testHooks: TestServer;
  /** Status that the live endpoint answers, in this order; then 200. */
  readonly hookAnswers: number[];
  /** One call to `/_sim…`; throws when it is refused. */
  drive(method: string, path: string, body?: unknown): Promise<DrivenAnswer>;
  truth(): Promise<Truth>;
  close(): Promise<void>;
}
export type DrivenAnswer = Readonly<Record<string, unknown>> & { readonly id: string };
export interface Truth {
  effects: { kind: string; reference: string; id: string }[];
  objects: Record<string, { id: string }[]>;
  webhooks: { event_id: string; type: string; attempts: { status: number | null; as: string }[] }[];
  requests: Record<string, number>;
  open_transactions: { max: number; at: string | null; measured: number };
}

/** A simulated custodian with a live and a test account, and a receiver for each one's webhooks. */
export async function startSimulatedCustody(
  options: {
    timeoutMs?: number;
    retryDelaysMs?: number[];
    countOpenTransactions?: OpenTransactionProbe;
    stateFile?: string;
  } = {},
): Promise<SimulatedCustody> {
  const hookAnswers: number[] = [];
  const liveHooks = await startTestServer((_request, response) => response.writeHead(hookAnswers.shift() ?? 200).end());
  const testHooks = await startTestServer((_request, response) => response.end());
  const simulator = await startCustodySimulator({
    port: 0,
    accounts: [
      { book: 'live', apiKey: 'live-key', hookUrl: `${liveHooks.url}/hooks`, webhookSecret: TEST_SECRET },
      { book: 'test', apiKey: 'test-key', hookUrl: `${testHooks.url}/hooks`, webhookSecret: `other ${TEST_SECRET}` },
    ],
    webhookRetryDelaysMs: options.retryDelaysMs ?? [20, 20, 20],
    countOpenTransactions: options.countOpenTransactions,
    stateFile: options.stateFile,
  });
  const { url } = simulator;
  const timeoutMs = options.timeoutMs ?? 2_000;
  const live = createCustodyClient({ url, apiKey: 'live-key', timeoutMs });
  const test = createCustodyClient({ url, apiKey: 'test-key', timeoutMs });
  const { drive, truth } = driverOf(url);
  return {
    url,
    live,
    test,
    liveHooks,
    testHooks,
    hookAnswers,
    drive,
    truth,
    async close() {
      await Promise.all([live.close(), test.close()]);
      await simulator.close();
      await Promise.all([liveHooks.close(), testHooks.close()]);
    },
  };
}

/** Drives the simulator at this address over `/_sim`. */
export function driverOf(url: string): Pick<SimulatedCustody, 'drive' | 'truth'> {
  const drive: SimulatedCustody['drive'] = async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  return { drive, truth: async () => JSON.parse(JSON.stringify(await drive('GET', '/_sim/truth'))) };
}

/** A bound for what never comes; nothing is measured by it. */
const FACT_WITHIN_MS = 30_000;

type Fact<T> = Exclude<T, null | undefined | false>;

/** Waits for a fact: asks until the answer is neither null nor undefined nor false. */
export async function eventually<T>(ask: () => Promise<T> | T): Promise<Fact<T>> {
  for (const end = Date.now() + FACT_WITHIN_MS; Date.now() < end; ) {
    const answer = await ask();
    if (isFact(answer)) return answer;
    await pause(10);
  }
  throw new Error('What the test waits for did not happen within 30 s.');
}

function isFact<T>(answer: T): answer is Fact<T> {
  return answer !== null && answer !== undefined && answer !== false;
}
