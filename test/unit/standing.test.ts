import { expectedSchedules } from '../../src/cli/expected-standing.js';
import type { Profile } from '../../src/cli/profile.js';
import { schedulesOf } from '../../src/client/standing.js';
import type { Temporal } from '../../src/client/temporal.js';
import { loadConfig } from '../../src/config.js';
import { providerAccountName } from '../../src/contracts/ids.js';
import { providerAccounts, providerHooks } from '../../src/local/provider-accounts.js';

const SECRET = 'a secret of at least 32 characters';

/** A configuration with these accounts; no service is called. */
function configOf(accounts: readonly string[]) {
  const settings = accounts.flatMap((account) => [
    [`SVERKA_${account}_URL`, 'http://127.0.0.1:9'],
    [`SVERKA_${account}_API_KEY`, 'key'],
    [`SVERKA_${account}_WEBHOOK_SECRETS`, SECRET],
  ]);
  return loadConfig({ DATABASE_URL: 'postgres://127.0.0.1:9/none', ...Object.fromEntries(settings) });
}

const temporal = { taskQueue: 'sverka' } as Temporal;
const idsOf = (accounts: readonly string[]) =>
  schedulesOf(temporal, configOf(accounts)).map(({ scheduleId }) => scheduleId);

it('a custodian’s deposits and an issuer’s cards are reconciled by schedules of their own, for each book', () => {
  expect(idsOf(['LIVE_CUSTODY', 'TEST_CUSTODY', 'LIVE_ISSUER', 'TEST_ISSUER'])).toEqual([
    'deposit-reconcile:live:custody',
    'deposit-reconcile:test:custody',
    'issuance-reconcile:live:issuer',
    'issuance-reconcile:test:issuer',
    'drift-check',
    'full-check',
  ]);
  expect(idsOf(['LIVE_ISSUER'])).toEqual(['issuance-reconcile:live:issuer', 'drift-check', 'full-check']);
});

it('the reconciliation of an issuer runs in its own interval, for its own account', () => {
  const config = { ...configOf(['LIVE_ISSUER']), SVERKA_ISSUANCE_RECONCILE_INTERVAL: 120_000 };
  expect(schedulesOf(temporal, config)[0]).toMatchObject({
    spec: { intervals: [{ every: 120_000 }] },
    policies: { overlap: 'SKIP' },
    action: {
      workflowType: 'issuanceReconcile',
      taskQueue: 'sverka',
      args: [{ book: 'live', provider: 'issuer', account: 'main-live' }],
    },
  });
});

it('the command line expects exactly the schedules that the workers of a local run make', () => {
  const hooks = providerHooks(providerAccounts({}, 'http://127.0.0.1:9', providerAccountName));
  const expected = expectedSchedules({ run: { hooks } } as unknown as Profile);
  expect(expected.sort()).toEqual(idsOf(['LIVE_CUSTODY', 'TEST_CUSTODY', 'LIVE_ISSUER', 'TEST_ISSUER']).sort());
});
