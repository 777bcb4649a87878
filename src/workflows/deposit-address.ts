import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
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

/** Tries and looks of one run; an address that waits for days goes on in a fresh one. */
const STEPS_PER_RUN = 100;

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

  const accepted: Accepted = { ...(await databaseReserveDepositAddress(input)), callId: input.request.callId };
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
  let { known, tries, looks } = input.resumed ?? { known: await create(input, id, 0), tries: 1, looks: 0 };
  for (let steps = 0; ; steps += 1) {
    if (known.outcome === 'unknown') known = await databaseSuspectDepositAddress({ id, traceId });
    const { state, merchantId, needsOperator } = known;
    show({ state, merchantId, needsOperator, facts: [['deposit address', id]] });
    if (known.outcome === 'active' || known.outcome === 'failed') return;
    if (steps === STEPS_PER_RUN) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof depositAddress>({ ...input, resumed: { known, tries, looks } });
    }
    await sleep(known.waitMs, { summary: known.outcome === 'not_sent' ? 'until the next try' : 'until the next look' });
    if (known.outcome === 'not_sent' || known.mayCreateAgain) {
      known = await create(input, id, tries);
      tries += 1;
    } else {
      known = await providerReadDepositAddress({ id, traceId, looks });
      looks += 1;
    }
  }
}

/** One attempt. A worker that dies in it leaves an outcome that nobody knows. */
async function create(input: DepositAddressInput, id: string, tries: number): Promise<DepositAddressTry> {
  const { merchantId, provider, traceId } = input;
  const { providerCreateDepositAddress } = activitiesOf<DepositAddressActivities>(provider);
  try {
    return await providerCreateDepositAddress({ id, traceId, tries });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const unknown = { outcome: 'unknown', state: 'unknown' } as const;
    return { ...unknown, merchantId, needsOperator: false, waitMs: 0, mayCreateAgain: false };
  }
}
