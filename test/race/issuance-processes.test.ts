import { startIssuance } from '../../src/client/issuances.js';
import { startWorkerProcess, type WorkerProcess } from '../support/crash-process.js';
import { makeMerchant } from '../support/gateway.js';
import { type Buyer, issuanceInput, issuanceRow, makeBuyer, workflowIdOf } from '../support/issuance-rows.js';
import { balanceOf } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { type ProductProcess, startProduct } from '../support/product-process.js';
import { eventually } from '../support/simulated-custody.js';
import { bundleImpatient, type MutantBundle } from '../support/worker-mutants.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

const GATEWAYS = 3;

let world: WorkerWorld;
let bundle: MutantBundle;
let gateways: ProductProcess[];
let worker: WorkerProcess | undefined;
beforeAll(async () => {
  // The worker makes its standing workflows and schedules, whose ids are one per namespace.
  const namespace = await makeNamespace();
  const settings = { SVERKA_PROVIDER_TIMEOUT: '10s', SVERKA_BREAKER_LEASE: '13s' };
  [world, bundle] = await Promise.all([openWorkerWorld({ namespace, settings }), bundleImpatient()]);
  const env = { ...world.env, DATABASE_URL: world.database.urlFor('gateway') };
  gateways = await Promise.all(Array.from({ length: GATEWAYS }, () => startProduct('gateway', env)));
});
beforeEach(async () => {
  worker = await startWorkerProcess(world, bundle.path);
});
afterEach(async () => {
  await worker?.kill();
  await expectMoneyInvariants(world.owner);
});
afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
  bundle?.remove();
  await world?.close();
});

async function buyerWithKey(cents?: bigint): Promise<Buyer & { readonly apiKey: string }> {
  const { id: merchantId, keys } = await makeMerchant(world.tx);
  const buyer = await makeBuyer(world, { merchantId, ...(cents === undefined ? {} : { cents }) });
  return { ...buyer, apiKey: keys.live };
}

/** `POST /v1/cards` at one of the gateways. */
async function issue({ apiKey, cardholderId }: Buyer & { apiKey: string }, key: string, at: number) {
  const answer = await fetch(`${gateways[at % GATEWAYS]?.url}/v1/cards`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      prefer: 'wait=10',
    },
    body: JSON.stringify({ cardholder_id: cardholderId, product: 'instant', load: { amount: '25.00', asset: 'USD' } }),
  });
  return { status: answer.status, body: (await answer.json()) as { id: string; code?: string } };
}

async function cardsMadeFor(reference: string): Promise<number> {
  const { effects } = await world.issuer.truth();
  return effects.filter((effect) => effect.reference === reference).length;
}

async function issuancesOf({ merchantId }: Buyer): Promise<{ id: string; state: string }[]> {
  return world.tx.query('select id, state from sverka.issuance where merchant_id = $1', [merchantId]);
}

test('one Idempotency-Key twenty times at once, at several processes: one card, of which all are told', async () => {
  const buyer = await buyerWithKey();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => issue(buyer, 'twenty', n)));
  // A machine that is slow may answer with what waits: it is the same card, or the request that leads to it.
  for (const { status } of answers) expect([201, 202]).toContain(status);
  const cards = new Set(answers.map(({ body }) => body.id).filter((id) => id.startsWith('card_')));
  expect(cards.size).toBe(1);
  const [made, ...more] = await eventually(async () => {
    const rows = await issuancesOf(buyer);
    return rows.every(({ state }) => state === 'active') && rows;
  });
  expect(more).toEqual([]);
  expect(await cardsMadeFor(made?.id ?? '')).toBe(1);
  expect(await balanceOf(world.owner, buyer.purse.wallet)).toBe(100_000n - 2_600n);
});

test('two issuances for the last cent of a wallet, at two processes: one has it, the other is 402', async () => {
  const buyer = await buyerWithKey(2_600n);
  const answers = await Promise.all([issue(buyer, 'one', 0), issue(buyer, 'other', 1)]);
  expect(answers.map(({ status, body }) => `${status < 300} ${String(body.code)}`).toSorted()).toEqual([
    'false insufficient_funds',
    'true undefined',
  ]);
  const [made, ...more] = await eventually(async () => {
    const rows = await issuancesOf(buyer);
    return rows.every(({ state }) => state === 'active') && rows;
  });
  expect(more).toEqual([]);
  expect(await cardsMadeFor(made?.id ?? '')).toBe(1);
  expect(await balanceOf(world.owner, buyer.purse.wallet)).toBe(0n);
});

test('a worker killed while the issuer makes a card: it is found, made once and settled once', async () => {
  const buyer = await makeBuyer(world);
  const input = issuanceInput(buyer, 'killed');
  const match = { method: 'POST', path: '/v1/cards' };
  const slow = await world.issuer.drive('POST', '/_sim/faults', { fault: 'slow', ms: 2_000, times: 1, match });
  await startIssuance(world.temporal, input);
  await eventually(async () => {
    const { faults } = JSON.parse(JSON.stringify(await world.issuer.drive('GET', '/_sim/faults')));
    return faults.find((fault: { id: string }) => fault.id === slow.id)?.hits === 1;
  });
  const { id } = await eventually(() => issuanceRow(world, input));
  expect(await cardsMadeFor(id)).toBe(0);
  await worker?.kill();
  // He goes on although nobody listens any more.
  await eventually(async () => (await cardsMadeFor(id)) === 1);

  worker = await startWorkerProcess(world, bundle.path);
  await world.temporal.client.workflow.getHandle(workflowIdOf(input)).result();
  const audit = await world.tx.query<{ to: string }>(
    'select to_state as to from sverka.audit where subject_id = $1 order by version',
    [id],
  );
  expect(audit.map(({ to }) => to)).toEqual(['reserved', 'submitted', 'unknown', 'active']);
  expect(await cardsMadeFor(id)).toBe(1);
  expect(await balanceOf(world.owner, buyer.purse.wallet)).toBe(100_000n - 2_600n);
});
