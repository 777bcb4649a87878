import { createIssuerClient, type IssuerCardRequest, type IssuerClient } from '../../src/providers/issuer/client.js';
import { startIssuerSimulator } from '../../src/providers/issuer/simulator.js';
import type { OpenTransactionProbe } from '../../src/providers/simulator-kit/open-transactions.js';
import {
  driverOf,
  type SimulatedCustody,
  startTestServer,
  TEST_SECRET,
  type TestServer,
  type Truth,
} from './simulated-custody.js';

/** Our account at the issuer for one book, as a test has it. */
const KEYS = { live: 'issuer-live-key', test: 'issuer-test-key' } as const;

export interface SimulatedIssuer extends Pick<SimulatedCustody, 'drive' | 'truth'> {
  readonly url: string;
  readonly live: IssuerClient;
  readonly test: IssuerClient;
  /** What came to the live endpoint. */
  readonly liveHooks: TestServer;
  readonly testHooks: TestServer;
  /** Status that the live endpoint answers, in this order; then 200. */
  readonly hookAnswers: number[];
  /** One call of the wire with the live key, as it is: also what no client of ours would see. */
  wire(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Card numbers and codes of every card that there is. */
  secrets(): Promise<string[]>;
  close(): Promise<void>;
}

/** A simulated issuer with a live and a test account whose new cards are shown at once, and a receiver for webhooks. */
export async function startSimulatedIssuer(
  options: {
    timeoutMs?: number;
    retryDelaysMs?: number[];
    countOpenTransactions?: OpenTransactionProbe;
    stateFile?: string;
    /** Where webhooks of the live account go; left out, to `liveHooks`. */
    hookUrl?: string;
    /** Left out, as a test mostly wants it: no lag, and `async` cards move only when told to. */
    times?: { lag_ms?: number; async_ms?: number };
  } = {},
): Promise<SimulatedIssuer> {
  const hookAnswers: number[] = [];
  const liveHooks = await startTestServer((_request, response) => response.writeHead(hookAnswers.shift() ?? 200).end());
  const testHooks = await startTestServer((_request, response) => response.end());
  const simulator = await startIssuerSimulator({
    port: 0,
    accounts: [
      {
        book: 'live',
        apiKey: KEYS.live,
        hookUrl: options.hookUrl ?? `${liveHooks.url}/hooks`,
        webhookSecret: TEST_SECRET,
      },
      { book: 'test', apiKey: KEYS.test, hookUrl: `${testHooks.url}/hooks`, webhookSecret: `other ${TEST_SECRET}` },
    ],
    webhookRetryDelaysMs: options.retryDelaysMs ?? [20, 20, 20],
    countOpenTransactions: options.countOpenTransactions,
    stateFile: options.stateFile,
  });
  const { url } = simulator;
  const timeoutMs = options.timeoutMs ?? 2_000;
  const live = createIssuerClient({ url, apiKey: KEYS.live, timeoutMs });
  const test = createIssuerClient({ url, apiKey: KEYS.test, timeoutMs });
  const { drive, truth } = driverOf(url);
  const times = { lag_ms: 0, async_ms: 3_600_000, ...options.times };
  await drive('POST', '/_sim/times', times);
  return {
    url,
    live,
    test,
    liveHooks,
    testHooks,
    hookAnswers,
    // Times are the test's own, not part of what a reset forgets.
    drive: async (method, path, body) => {
      const answer = await drive(method, path, body);
      if (path === '/_sim/reset') await drive('POST', '/_sim/times', times);
      return answer;
    },
    truth,
    wire: async (method, path, body) => {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${KEYS.live}` },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    secrets: async () => secretsOf(await truth()),
    async close() {
      await Promise.all([live.close(), test.close()]);
      await simulator.close();
      await Promise.all([liveHooks.close(), testHooks.close()]);
    },
  };
}

function secretsOf({ objects }: Truth): string[] {
  const cards = (objects.cards ?? []) as { id: string; pan?: string | null; cvv?: string | null }[];
  return cards.flatMap(({ pan, cvv }) => [pan, cvv]).filter((text) => typeof text === 'string');
}

/** A request for a card; the names are markers that may stand nowhere but in this one call. */
export function cardRequest(reference: string, rest: Partial<IssuerCardRequest> = {}): IssuerCardRequest {
  const holder = {
    firstName: 'Canaryfirst',
    lastName: 'Canarylast',
    birthDate: '1990-02-28',
    country: 'DE',
    document: 'C0000000',
  };
  return { reference, product: 'instant', holder, load: { amount: '25.00', asset: 'USD' }, ...rest };
}

/** The same request whose document makes the issuer decline. */
export function declinedRequest(reference: string, rest: Partial<IssuerCardRequest> = {}): IssuerCardRequest {
  const request = cardRequest(reference, rest);
  return { ...request, holder: { ...request.holder, document: 'DECLINE:identity_not_verified' } };
}
