import { randomBytes } from 'node:crypto';
import type { RunHook } from './run-file.js';

/** Our account at the custodian for one book: the one a person configured, or the simulator's. */
export interface CustodyAccount {
  readonly book: 'live' | 'test';
  readonly endpoint: string;
  readonly hookUrl: string;
  /** Null when the environment says it, right or wrong: configuration is checked where it is read. */
  readonly simulated: { readonly apiKey: string; readonly secrets: readonly string[] } | null;
  readonly secrets: readonly string[];
}

/** 48 characters. */
const SECRET_BYTES = 36;

/** Both books' accounts. What the environment leaves unset gets the simulator, with secrets of this run alone. */
export function custodyAccounts(env: NodeJS.ProcessEnv, relayUrl: string): CustodyAccount[] {
  return (['live', 'test'] as const).map((book) => {
    const endpoint = `main-${book}`;
    const hookUrl = `${relayUrl}/hooks/custody/${endpoint}`;
    const prefix = settingPrefix(book);
    if (['URL', 'API_KEY', 'WEBHOOK_SECRETS'].some((name) => env[`${prefix}_${name}`])) {
      const secrets = (env[`${prefix}_WEBHOOK_SECRETS`] ?? '').split(',').filter((secret) => secret !== '');
      return { book, endpoint, hookUrl, simulated: null, secrets };
    }
    const secrets = [randomSecret(), randomSecret()];
    return { book, endpoint, hookUrl, simulated: { apiKey: randomSecret(), secrets }, secrets };
  });
}

/** The settings of src/config.ts for what is simulated; what a person set stays as it is. */
export function custodySettings(accounts: readonly CustodyAccount[], simulatorUrl: string): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const { book, simulated } of accounts) {
    if (simulated === null) continue;
    settings[`${settingPrefix(book)}_URL`] = simulatorUrl;
    settings[`${settingPrefix(book)}_API_KEY`] = simulated.apiKey;
    settings[`${settingPrefix(book)}_WEBHOOK_SECRETS`] = simulated.secrets.join(',');
  }
  return settings;
}

/** What the simulators' process is told of the accounts it plays. */
export function simulatedAccounts(accounts: readonly CustodyAccount[]): object[] {
  return accounts.flatMap(({ book, hookUrl, simulated }) =>
    simulated === null ? [] : [{ book, apiKey: simulated.apiKey, hookUrl, webhookSecret: simulated.secrets[0] }],
  );
}

/** The endpoints for `run.json`. */
export function custodyHooks(accounts: readonly CustodyAccount[]): RunHook[] {
  return accounts.map(({ book, endpoint, hookUrl, secrets }) => ({
    provider: 'custody',
    endpoint,
    book,
    url: hookUrl,
    signatureHeader: 'X-Custody-Signature',
    scheme: 't,v1',
    encoding: 'hex',
    deliveryId: 'body:event_id',
    secrets,
  }));
}

function settingPrefix(book: 'live' | 'test'): string {
  return `SVERKA_${book.toUpperCase()}_CUSTODY`;
}

function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
