import { randomBytes } from 'node:crypto';
import type { RunHook } from './run-file.js';

/** Every provider of the product that has a simulator, with how its notifications are signed and told apart. */
const SIGNATURES = {
  custody: { signatureHeader: 'X-Custody-Signature', scheme: 't,v1', deliveryId: 'body:event_id' },
  issuer: { signatureHeader: 'X-Issuer-Signature', scheme: 't,v1', deliveryId: 'body:event_id' },
  pert: { signatureHeader: 'X-Webhook-Signature', scheme: 'sha256=', deliveryId: 'header:X-Webhook-Event-Id' },
} as const;
export type SimulatedProvider = keyof typeof SIGNATURES;
export const SIMULATED_PROVIDERS = Object.keys(SIGNATURES) as SimulatedProvider[];

/** Our account at one provider for one book: the one a person configured, or the simulator's. */
export interface ProviderAccount {
  readonly provider: SimulatedProvider;
  readonly book: 'live' | 'test';
  readonly endpoint: string;
  readonly hookUrl: string;
  /** Null when the environment says it, right or wrong: configuration is checked where it is read. */
  readonly simulated: { readonly apiKey: string; readonly secrets: readonly string[] } | null;
  readonly secrets: readonly string[];
}

/** 48 characters. */
const SECRET_BYTES = 36;

/** How the product calls our account at a provider; handed in, for the local run knows nothing of providers. */
export type AccountName = (provider: SimulatedProvider, book: 'live' | 'test') => string;

/** Both books' accounts at each. What the environment leaves unset gets the simulator and secrets of this run. */
export function providerAccounts(env: NodeJS.ProcessEnv, relayUrl: string, nameOf: AccountName): ProviderAccount[] {
  return SIMULATED_PROVIDERS.flatMap((provider) =>
    (['live', 'test'] as const).map((book) => {
      const endpoint = nameOf(provider, book);
      const hookUrl = `${relayUrl}/hooks/${provider}/${endpoint}`;
      const prefix = settingPrefix({ provider, book });
      if (['URL', 'API_KEY', 'WEBHOOK_SECRETS'].some((name) => env[`${prefix}_${name}`])) {
        const secrets = (env[`${prefix}_WEBHOOK_SECRETS`] ?? '').split(',').filter((secret) => secret !== '');
        return { provider, book, endpoint, hookUrl, simulated: null, secrets };
      }
      const secrets = [randomSecret(), randomSecret()];
      return { provider, book, endpoint, hookUrl, simulated: { apiKey: randomSecret(), secrets }, secrets };
    }),
  );
}

/** The settings of src/config.ts for what is simulated; what a person set stays as it is. */
export function providerSettings(
  accounts: readonly ProviderAccount[],
  urlOf: (provider: SimulatedProvider) => string,
): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const account of accounts) {
    if (account.simulated === null) continue;
    const prefix = settingPrefix(account);
    settings[`${prefix}_URL`] = urlOf(account.provider);
    settings[`${prefix}_API_KEY`] = account.simulated.apiKey;
    settings[`${prefix}_WEBHOOK_SECRETS`] = account.simulated.secrets.join(',');
  }
  return settings;
}

/** What the simulators' process is told of the accounts that it plays at one provider. */
export function simulatedAccounts(accounts: readonly ProviderAccount[], of: SimulatedProvider): object[] {
  return accounts.flatMap(({ provider, book, hookUrl, simulated }) =>
    simulated === null || provider !== of
      ? []
      : [{ book, apiKey: simulated.apiKey, hookUrl, webhookSecret: simulated.secrets[0] }],
  );
}

/** The endpoints for `run.json`. */
export function providerHooks(accounts: readonly ProviderAccount[]): RunHook[] {
  return accounts.map(({ provider, book, endpoint, hookUrl, secrets }) => ({
    provider,
    endpoint,
    book,
    url: hookUrl,
    ...SIGNATURES[provider],
    encoding: 'hex',
    secrets,
  }));
}

function settingPrefix({ provider, book }: { provider: SimulatedProvider; book: 'live' | 'test' }): string {
  return `SVERKA_${book}_${provider}`.toUpperCase();
}

function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
