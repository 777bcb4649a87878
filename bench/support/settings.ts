import type { BenchDatabase, BenchServers } from './servers.js';

/** Of the live book's account at the custodian, as everything that a benchmark starts is told. */
export const CUSTODY = {
  book: 'live',
  provider: 'custody',
  account: 'main-live',
  apiKey: 'key-of-the-benchmarks',
  secret: 'secret-of-the-benchmarks-36-characters',
} as const;

/** That account, as an activity is told. */
export const SOURCE = { book: CUSTODY.book, provider: CUSTODY.provider, account: CUSTODY.account };

/** What src/config.ts reads, for a process of ours with that role; all else is its default. */
export function settingsFor(
  servers: BenchServers,
  of: {
    readonly database: BenchDatabase;
    readonly role: 'worker' | 'relay' | 'simulators';
    readonly taskQueue: string;
    readonly namespace: string;
    readonly custodyUrl: string;
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
  };
}
