import { createCheckActivities } from '../../src/activities/checks.js';
import { breakerLimits, guardProvider } from '../../src/activities/guard-client.js';
import { queriesOf } from '../../src/db/transaction.js';
import type { CustodyClient } from '../../src/providers/custody/client.js';
import { type ProviderError } from '../../src/providers/errors.js';
import { openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld, SOURCE } from '../support/deposit-world.js';

let world: DepositWorld;
let guarded: CustodyClient;
let ref: string;

beforeEach(async () => {
  world = await openDepositWorld();
  const at = await world.address();
  ref = await world.arrive(at, { amount: '1' });
  guarded = guardProvider(
    queriesOf(world.pool),
    { provider: 'custody', clientOf: world.deps.custody },
    limits(),
  )(SOURCE);
});
afterEach(() => world.close());
const limits = () => breakerLimits(world.deps.config);

const fault = (body: object) =>
  world.drive('POST', '/_sim/faults', { match: { path: '/v1/deposits/*' }, ...body }) as Promise<{ id: string }>;
const asked = async () =>
  Object.entries((await world.truth()).requests)
    .filter(([route]) => route.startsWith('GET /v1/deposits/'))
    .reduce((sum, [, count]) => sum + count, 0);

/** The kind of error that reading ends with; `read` when there is an answer. */
const reading = (client = guarded) =>
  client.readDeposit(ref).then(
    () => 'read',
    (error: ProviderError) => error.kind,
  );
async function readings(times: number, client = guarded): Promise<string[]> {
  const found: string[] = [];
  for (let n = 0; n < times; n += 1) found.push(await reading(client));
  return found;
}

it('five answers of 500 open it: the sixth call is not sent, and the provider is an alert', async () => {
  await fault({ fault: 'status', status: 500 });
  expect(await readings(5)).toEqual(Array(5).fill('unavailable'));
  const sent = await asked();
  expect(await readings(3)).toEqual(Array(3).fill('breaker_open'));
  expect(await asked()).toBe(sent);
  const error = await guarded.readDeposit(ref).catch((thrown: ProviderError) => thrown);
  expect(error).toMatchObject({ kind: 'breaker_open', provesNothingMade: true, countsForBreaker: false });
  expect((error as ProviderError).retryAfterMs).toBeGreaterThan(0);
  expect(await openAlerts(world.owner)).toEqual(['breaker_open health:breaker:custody:live']);
  // The client itself would go on: what spares the provider is the breaker.
  expect(await readings(1, world.deps.custody(SOURCE))).toEqual(['unavailable']);
  expect(await asked()).toBe(sent + 1);
});

it.each<[string, object, string]>([
  ['a 404', { fault: 'not_found' }, 'not_found'],
  ['a limit', { fault: 'status', status: 429, retry_after: 1 }, 'rate_limited'],
  ['a refusal', { fault: 'status', status: 422 }, 'rejected'],
  ['a wrong key', { fault: 'unauthorized' }, 'misconfigured'],
])('%s says nothing about the health of the provider, however often', async (_, body, kind) => {
  const { id } = await fault(body);
  expect(await readings(7)).toEqual(Array(7).fill(kind));
  await world.drive('DELETE', `/_sim/faults/${id}`);
  expect(await reading()).toBe('read');
  expect(await openAlerts(world.owner)).toEqual([]);
});

it.each([
  ['garbage', { fault: 'garbage' }, 'garbage'],
  ['a cut connection', { fault: 'lost_answer' }, 'unavailable'],
])('%s counts', async (_, body, kind) => {
  await fault(body);
  expect(await readings(6)).toEqual([...Array(5).fill(kind), 'breaker_open']);
});

it('where two errors are enough by configuration, the third call is not sent', async () => {
  const custody = guardProvider(
    queriesOf(world.pool),
    { provider: 'custody', clientOf: world.deps.custody },
    { ...limits(), failuresMax: 2 },
  );
  await fault({ fault: 'status', status: 500 });
  expect(await readings(3, custody(SOURCE))).toEqual(['unavailable', 'unavailable', 'breaker_open']);
});

it('one probe when the time is over closes it, and the alert is gone at the next look', async () => {
  const { id } = await fault({ fault: 'status', status: 500 });
  await readings(5);
  await world.drive('DELETE', `/_sim/faults/${id}`);
  expect(await reading()).toBe('breaker_open');
  const { databaseWatchHealth } = createCheckActivities(world.deps);
  await databaseWatchHealth({ traceId: 'a'.repeat(32) });
  expect(await openAlerts(world.owner)).toEqual(['breaker_open health:breaker:custody:live']);
  await world.owner.query('update sverka.breaker set open_until = clock_timestamp()');
  expect(await readings(3)).toEqual(['read', 'read', 'read']);
  await databaseWatchHealth({ traceId: 'a'.repeat(32) });
  expect(await openAlerts(world.owner)).toEqual([]);
});

it('the accounts of one provider and book share it, and the other book is not spared', async () => {
  const custody = guardProvider(
    queriesOf(world.pool),
    { provider: 'custody', clientOf: () => world.deps.custody(SOURCE) },
    limits(),
  );
  await fault({ fault: 'status', status: 500 });
  await readings(5, custody({ book: 'live', account: 'one' }));
  expect(await reading(custody({ book: 'live', account: 'two' }))).toBe('breaker_open');
  expect(await reading(custody({ book: 'test', account: 'one' }))).toBe('unavailable');
});

it('a create is refused, too, and has made nothing', async () => {
  await fault({ fault: 'status', status: 500 });
  await readings(5);
  const request = { reference: 'addr-1', network: 'tron', asset: 'USDT-TRC20', settleIn: null };
  await expect(guarded.createAddress(request)).rejects.toMatchObject({ kind: 'breaker_open', provesNothingMade: true });
  // What is no call passes as it is.
  expect(guarded.close).toBe(world.deps.custody(SOURCE).close);
});
