import { createPertClient, type PertClient } from '../../src/providers/pert/client.js';
import { startPertSimulator } from '../../src/providers/pert/simulator.js';
import { driverOf, type SimulatedCustody, startTestServer, TEST_SECRET, type TestServer } from './simulated-custody.js';

export interface SimulatedPert extends Pick<SimulatedCustody, 'drive' | 'truth'> {
  readonly url: string;
  readonly live: PertClient;
  readonly test: PertClient;
  readonly liveHooks: TestServer;
  readonly testHooks: TestServer;
  /** Status that the live endpoint answers, in this order; then 200. */
  readonly hookAnswers: number[];
  /** A call of the wire as it is, with the key of the live account: its text, for JSON.parse would round numbers. */
  wire(path: string, headers?: Readonly<Record<string, string>>): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
}

/** A simulated Pert with a live and a test account, and a receiver for each one's webhooks. */
export async function startSimulatedPert(
  options: { timeoutMs?: number; stateFile?: string; firstPosition?: number } = {},
): Promise<SimulatedPert> {
  const hookAnswers: number[] = [];
  const liveHooks = await startTestServer((_request, response) => response.writeHead(hookAnswers.shift() ?? 200).end());
  const testHooks = await startTestServer((_request, response) => response.end());
  const { timeoutMs = 5_000, ...kept } = options;
  const simulator = await startPertSimulator({
    port: 0,
    accounts: [
      { book: 'live', apiKey: 'live-key', hookUrl: `${liveHooks.url}/hooks`, webhookSecret: TEST_SECRET },
      { book: 'test', apiKey: 'test-key', hookUrl: `${testHooks.url}/hooks`, webhookSecret: `other ${TEST_SECRET}` },
    ],
    webhookRetryDelaysMs: [20, 20, 20],
    ...kept,
  });
  const { url } = simulator;
  const live = createPertClient({ url, apiKey: 'live-key', timeoutMs });
  const test = createPertClient({ url, apiKey: 'test-key', timeoutMs });
  return {
    url,
    live,
    test,
    liveHooks,
    testHooks,
    hookAnswers,
    ...driverOf(url),
    async wire(path, headers = { authorization: 'Bearer live-key' }) {
      const answer = await fetch(`${url}${path}`, { headers });
      return { status: answer.status, text: await answer.text() };
    },
    async close() {
      await Promise.all([live.close(), test.close()]);
      await simulator.close();
      await Promise.all([liveHooks.close(), testHooks.close()]);
    },
  };
}
