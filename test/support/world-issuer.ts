import { startIssuerSimulator } from '../../src/providers/issuer/simulator.js';
import { type DrivenAnswer, TEST_SECRET, type Truth } from './simulated-custody.js';

/** The simulated issuer of a world: its webhooks go nowhere, for a test stores the notifications that it wants. */
export interface WorldIssuer {
  readonly url: string;
  /** Names and values of the settings that make a process of ours call it. */
  readonly settings: Readonly<Record<string, string>>;
  /** One call to `/_sim…`; throws when it is refused. */
  drive(method: string, path: string, body?: unknown): Promise<DrivenAnswer>;
  truth(): Promise<Truth>;
  /** A card that the product did not ask for, by the wire, as it stands there. */
  makeCard(body: object): Promise<DrivenAnswer>;
  /** A load that the product did not ask for. */
  loadCard(cardId: string, body: object): Promise<DrivenAnswer>;
  close(): Promise<void>;
}

const HOOKS = 'http://127.0.0.1:9/none';

/** New cards are shown at once, and `async` ones move only when told to. */
export async function startWorldIssuer(): Promise<WorldIssuer> {
  const account = (book: string) => ({ book, apiKey: `${book}-key`, hookUrl: HOOKS, webhookSecret: TEST_SECRET });
  const { url, close } = await startIssuerSimulator({
    port: 0,
    accounts: [account('live'), account('test')],
    webhookRetryDelaysMs: [],
  });
  const call = async (method: string, path: string, init: RequestInit): Promise<DrivenAnswer> => {
    const answer = await fetch(url + path, { method, ...init });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const drive: WorldIssuer['drive'] = (method, path, body) =>
    call(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
  const ask = (path: string, body: object) =>
    call('POST', path, { headers: { authorization: 'Bearer live-key' }, body: JSON.stringify(body) });
  await drive('POST', '/_sim/times', { lag_ms: 0, async_ms: 3_600_000 });
  return {
    url,
    settings: { ...settingsOf('LIVE', url), ...settingsOf('TEST', url) },
    drive,
    truth: async () => JSON.parse(JSON.stringify(await drive('GET', '/_sim/truth'))),
    makeCard: (body) => ask('/v1/cards', body),
    loadCard: (cardId, body) => ask(`/v1/cards/${cardId}/loads`, body),
    close,
  };
}

function settingsOf(book: 'LIVE' | 'TEST', url: string): Record<string, string> {
  return {
    [`SVERKA_${book}_ISSUER_URL`]: url,
    [`SVERKA_${book}_ISSUER_API_KEY`]: `${book.toLowerCase()}-key`,
    [`SVERKA_${book}_ISSUER_WEBHOOK_SECRETS`]: TEST_SECRET,
    SVERKA_ISSUANCE_POLL_INTERVAL: '1h',
  };
}
