import type { Context } from '@temporalio/activity';
import { createActivityInterceptor } from '../../src/activities/interceptor.js';
import { createPool } from '../../src/db/pool.js';
import { ProviderError } from '../../src/providers/errors.js';
import { openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, inputOf, openDepositWorld } from '../support/deposit-world.js';

let world: DepositWorld;
beforeAll(async () => {
  world = await openDepositWorld();
});
afterAll(() => world.close());

/** One first try of that activity, for the same deposit. */
async function run(activityType: string, work: () => Promise<unknown>, deps = world.deps): Promise<unknown> {
  const info = { activityType, attempt: 1 };
  const { execute } = createActivityInterceptor(deps, { info } as unknown as Context);
  return execute?.({ args: [inputOf('d-1')], headers: {} }, work);
}
const misconfigured = () =>
  Promise.reject(new ProviderError({ kind: 'misconfigured', provider: 'custody', operation: 'readDeposit' }));
const ALERT = 'provider_misconfigured provider:custody:main-live:d-1';

test('what was misconfigured is well again when another run is answered at its first try', async () => {
  await expect(run('providerReadDeposit', misconfigured)).rejects.toMatchObject({ type: 'Provider.misconfigured' });
  expect(await openAlerts(world.owner)).toEqual([ALERT]);
  // One that called nobody proves nothing.
  await run('databaseNudgeOverdue', async () => 'done');
  expect(await openAlerts(world.owner)).toEqual([ALERT]);
  expect(await run('providerReadDeposit', async () => 'read')).toBe('read');
  expect(await openAlerts(world.owner)).toEqual([]);
});

test('what was done stays done when the alert cannot be resolved', async () => {
  const pool = createPool('postgres://nobody@127.0.0.1:1/none', { max: 1, applicationName: 'test' });
  expect(await run('providerReadDeposit', async () => 'committed', { ...world.deps, pool })).toBe('committed');
  await pool.end();
});
