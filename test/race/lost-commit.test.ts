import type pg from 'pg';
import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositAddressWorkflowId, depositWorkflowId } from '../../src/contracts/ids.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { addressesMade } from '../support/worker-gateway.js';
import { historyOf } from '../support/worker-history.js';
import {
  addressInput,
  arrive,
  creditsOf,
  depositInput,
  depositRow,
  makeKnownAddress,
  makeMerchantRow,
} from '../support/worker-rows.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
beforeAll(async () => {
  world = await openWorkerWorld();
});
afterAll(async () => world?.close());

describe.each([
  ['committed', true],
  ['did not commit', false],
] as const)('a COMMIT whose answer is lost, and which %s,', (_what, commits) => {
  test('leaves one movement when the deposit is read again', async () => {
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to);
    const lost = losesFirstCommit(world.deps.pool, commits);
    const worker = await world.startWorker({ deps: (deps) => ({ ...deps, pool: lost.pool }) });
    await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
    const workflowId = depositWorkflowId(depositInput(ref));
    await world.temporal.client.workflow.getHandle(workflowId).result();
    expect([lost.count(), await creditsOf(world, to.merchantId)]).toEqual([1, ['25000000']]);
    expect(await depositRow(world, ref)).toMatchObject({ state: 'final', flag: null });
    expect((await historyOf(world, workflowId)).text).toContain('Database.CommitUnknown');
    await expectMoneyInvariants(world.owner);
    await worker.stop();
  });

  test('leaves one address and one request when the reservation is made again', async () => {
    const input = addressInput(await makeMerchantRow(world), 'k');
    const before = await addressesMade(world);
    const lost = losesFirstCommit(world.deps.pool, commits);
    const worker = await world.startWorker({ deps: (deps) => ({ ...deps, pool: lost.pool }) });
    await startDepositAddress(world.temporal, input);
    const workflowId = depositAddressWorkflowId({ ...input, requestId: input.request.id });
    const accepted = await world.temporal.client.workflow.getHandle(workflowId).result();
    expect(accepted).toMatchObject({ resource: { made: true }, refusal: null });
    const { rows } = await world.owner.query(
      `select a.state, (select count(*)::int from sverka.request where merchant_id = $1) as requests
         from sverka.deposit_address a where a.merchant_id = $1`,
      [input.merchantId],
    );
    expect([lost.count(), rows]).toEqual([1, [{ state: 'active', requests: 1 }]]);
    expect((await addressesMade(world)) - before).toBe(1);
    await worker.stop();
  });
});

/** A pool whose first COMMIT is done, or undone, and then answered by a broken connection. */
function losesFirstCommit(pool: pg.Pool, commits: boolean) {
  let count = 0;
  const query = async (client: pg.PoolClient, sql: string, params?: unknown[]) => {
    if (sql !== 'COMMIT' || count > 0) return client.query(sql, params);
    count += 1;
    await client.query(commits ? 'COMMIT' : 'ROLLBACK');
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  };
  const breaking = (client: pg.PoolClient): pg.PoolClient =>
    new Proxy(client, {
      get(target, name) {
        if (name === 'query') return (sql: string, params?: unknown[]) => query(target, sql, params);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const broken = new Proxy(pool, {
    get(target, name) {
      if (name === 'connect') return async () => breaking(await target.connect());
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { pool: broken, count: () => count };
}
