import type { LoginRole } from '../../src/local/role-passwords.js';
import type { BenchKeys } from './keys.js';
import type { BenchDatabase, BenchServers } from './servers.js';

/** Of the live book's account at the custodian, as everything that a benchmark starts is told. */
export const CUSTODY = {
  book: 'live',
  provider: 'custody',
  account: 'main-live',
  apiKey: 'key-of-the-benchmarks',
  secret: 'secret-of-the-benchmarks-36-characters',
} as const;

/** The same at the issuer. */
export const ISSUER = { ...CUSTODY, provider: 'issuer' } as const;

/** The same at the provider of balances. */
export const PERT = { ...CUSTODY, provider: 'pert', account: 'pert-main' } as const;

/** Whose balances are mirrored, as an activity is told. */
export const BALANCES = { book: PERT.book, provider: PERT.provider, account: PERT.account };

/** The custodian's account, as an activity is told. */
export const SOURCE = { book: CUSTODY.book, provider: CUSTODY.provider, account: CUSTODY.account };

/** What src/config.ts reads, for a process of ours with that role; all else is its default. */
export function settingsFor(
  servers: BenchServers,
  of: {
    readonly database: BenchDatabase;
    readonly role: LoginRole;
    readonly taskQueue: string;
    readonly namespace: string;
    readonly custodyUrl: string;
    /** Left out where nobody issues cards. */
    readonly issuer?: { readonly url: string; readonly keys: BenchKeys };
    /** Left out where no balances are mirrored. */
    readonly pertUrl?: string;
  },
): Record<string, string> {
  return {
    DATABASE_URL: of.database.urlFor(of.role),
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: of.namespace,
    SVERKA_TASK_QUEUE: of.taskQueue,
    SVERKA_WORKFLOW_BUNDLE: servers.bundlePath,
    SVERKA_LIVE_CUSTODY_URL: of.custodyUrl,
    SVERKA_LIVE_CUSTODY_API_KEY: CUSTODY.apiKey,
    SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: CUSTODY.secret,
    ...(of.issuer ? issuerSettings(of.issuer) : {}),
    ...(of.pertUrl === undefined ? {} : pertSettings(of.pertUrl)),
  };
}

/** Checks come when they are asked for. */
function pertSettings(url: string): Record<string, string> {
  return {
    SVERKA_LIVE_PERT_URL: url,
    SVERKA_LIVE_PERT_API_KEY: PERT.apiKey,
    SVERKA_LIVE_PERT_WEBHOOK_SECRETS: PERT.secret,
    SVERKA_BALANCE_CHECK_INTERVAL: '1d',
    SVERKA_BALANCE_RECHECK_INTERVAL: '1d',
  };
}

function issuerSettings({ url, keys }: { url: string; keys: BenchKeys }): Record<string, string> {
  return {
    SVERKA_LIVE_ISSUER_URL: url,
    SVERKA_LIVE_ISSUER_API_KEY: ISSUER.apiKey,
    SVERKA_LIVE_ISSUER_WEBHOOK_SECRETS: ISSUER.secret,
    SVERKA_KEYRING_FILE: keys.keyring,
    SVERKA_PUBLIC_KEYS_FILE: keys.publicKeys,
    SVERKA_FINGERPRINT_KEY: keys.fingerprint,
  };
}
