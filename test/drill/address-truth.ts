import { createDepositAddressActivities } from '../../src/activities/deposit-addresses.js';
import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { depositAddressWorkflowId } from '../../src/contracts/ids.js';
import type { DepositAddressInput } from '../../src/contracts/messages.js';
import { addressInput, makeMerchantRow } from '../support/worker-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { resultOf } from './result-of.js';

/** Every address that the custodian has made, by our reference. */
export async function addressesAtProvider({ custody }: WorkerWorld): Promise<string[]> {
  const { effects, objects } = await custody.truth();
  const addresses: Record<string, unknown>[] = objects.addresses ?? [];
  return effects
    .filter(({ kind }) => kind === 'address')
    .map(({ reference }) => `${reference} is ${addresses.find((each) => each.reference === reference)?.address}`);
}

/** Every address of ours; one request led to each that no test inserted, and its walk is one of those there are. */
export async function addressesInRows({ owner }: WorkerWorld): Promise<string[]> {
  const { rows } = await owner.query<{ line: string }>(
    `select a.id || ' is ' || coalesce(a.address, a.state)
         || case when r.requests = (a.trace_id is not null)::int then '' else format(', for %s requests', r.requests) end
         || case when w.walk in ('preparing>active', 'preparing>unknown>active') then '' else ', by ' || w.walk end as line
       from sverka.deposit_address a,
         lateral (select count(*) as requests from sverka.request r where r.resource_id = a.id and r.made) r,
         lateral (select string_agg(to_state, '>' order by version) as walk from sverka.audit where subject_id = a.id) w`,
  );
  return rows.map(({ line }) => line);
}

export async function wishMany(world: WorkerWorld, count: number): Promise<DepositAddressInput[]> {
  return Promise.all(Array.from({ length: count }, async () => addressInput(await makeMerchantRow(world), 'k')));
}

export async function startAll({ temporal }: WorkerWorld, inputs: readonly DepositAddressInput[]): Promise<void> {
  for (const input of inputs) await startDepositAddress(temporal, input);
}

export async function untilMade(world: WorkerWorld, inputs: readonly DepositAddressInput[]): Promise<void> {
  for (const input of inputs) {
    const id = depositAddressWorkflowId({ ...input, requestId: input.request.id });
    await resultOf(world, id);
  }
}

/** The same request again, as after Temporal's retention: the row answers. */
export async function reserveAgain({ deps }: WorkerWorld, inputs: readonly DepositAddressInput[]): Promise<void> {
  const activities = createDepositAddressActivities(deps);
  for (const input of inputs) {
    const { resource } = await activities.databaseReserveDepositAddress(input);
    if (resource) await activities.providerCreateDepositAddress({ id: resource.id, traceId: input.traceId, tries: 0 });
  }
}
