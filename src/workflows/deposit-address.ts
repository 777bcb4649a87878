import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  defineUpdate,
  setHandler,
  sleep,
  Trigger,
} from '@temporalio/workflow';
import type { DepositAddressActivities } from '../activities/deposit-addresses.js';
import {
  ACCEPTED_UPDATE,
  type Accepted,
  type DepositAddressInput,
  type DepositAddressTry,
} from '../contracts/messages.js';
import { activitiesOf } from './options.js';
import { createShow } from './show.js';

const acceptedUpdate = defineUpdate<Accepted, []>(ACCEPTED_UPDATE);

/**
 * Makes one permanent deposit address. The whole request is the argument, so the run finishes although its caller is
 * gone; `accepted` answers what the key led to, and the gateway compares the fingerprint.
 */
export async function depositAddress(input: DepositAddressInput): Promise<Accepted> {
  const { databaseReserveDepositAddress } = activitiesOf<DepositAddressActivities>(input.provider);
  const reserved = new Trigger<Accepted>();
  setHandler(acceptedUpdate, async () => reserved, {
    description: 'What the request led to: an address, or a refusal.',
  });

  const accepted = await databaseReserveDepositAddress(input);
  reserved.resolve(accepted);
  if (accepted.resource?.made) await make(input, accepted.resource.id);
  await condition(allHandlersFinished);
  return accepted;
}

/** Create once, then ask: an outcome that nobody knows is looked up by our reference (DESIGN 6). */
async function make(input: DepositAddressInput, id: string): Promise<void> {
  const { provider, traceId } = input;
  const { databaseSuspectDepositAddress, providerReadDepositAddress } =
    activitiesOf<DepositAddressActivities>(provider);
  const show = createShow();
  const tell = (state: string, merchantId = input.merchantId) =>
    show({ state, merchantId, needsOperator: false, facts: [['deposit address', id]] });
  tell('preparing');
  let known = await create(input, id);
  for (let looks = 0; ; looks += 1) {
    if (known.outcome === 'active' || known.outcome === 'failed') return tell(known.outcome);
    if (known.outcome === 'unknown') {
      tell('unknown');
      known = await databaseSuspectDepositAddress({ id, traceId });
    }
    await sleep(known.waitMs, { summary: known.outcome === 'not_sent' ? 'until the next try' : 'until the next look' });
    known =
      known.outcome === 'not_sent' || known.mayCreateAgain
        ? await create(input, id)
        : await providerReadDepositAddress({ id, traceId, looks });
  }
}

/** One attempt. A worker that dies in it leaves an outcome that nobody knows. */
async function create(input: DepositAddressInput, id: string): Promise<DepositAddressTry> {
  const { providerCreateDepositAddress } = activitiesOf<DepositAddressActivities>(input.provider);
  try {
    return await providerCreateDepositAddress({ id, traceId: input.traceId });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { outcome: 'unknown', merchantId: input.merchantId, waitMs: 0, mayCreateAgain: false };
  }
}
