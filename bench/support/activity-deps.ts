import type pg from 'pg';
import type { ActivityDeps } from '../../src/activities/deps.js';
import type { Config } from '../../src/config.js';
import type { Providers } from '../../src/providers/create-providers.js';
import { createKeyProvider } from '../../src/providers/keys/create-key-provider.js';
import { keySettings } from '../../src/providers/keys/key-settings.js';
import { silentLog } from '../../src/telemetry/log.js';

/** What activities are given that run in the benchmark's own process; nobody hears their nudges. */
export function activityDeps(of: { pool: pg.Pool; config: Config; providers: Providers }): ActivityDeps {
  const { pool, config, providers } = of;
  return {
    pool,
    config,
    log: silentLog,
    custody: providers.custody,
    issuer: providers.issuer,
    pert: providers.pert,
    keys: createKeyProvider(keySettings(config, config.SVERKA_PROVIDER_TIMEOUT)),
    nudgeDeposit: async () => 'closed',
    startDepositAddress: async () => undefined,
    nudgeIssuance: async () => 'closed',
    startIssuance: async () => 'closed',
    startCardLoad: async () => undefined,
    startCardChange: async () => undefined,
    nudgeWithdrawal: async () => undefined,
    nudgeBalances: async () => undefined,
  };
}
