import type { DepositAddressRecord } from '../contracts/deposit-address.js';
import { type Accepted, type DepositAddressInput, type DepositAddressTry } from '../contracts/messages.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { depositPlace } from '../db/apply-deposits.js';
import {
  ensureCustomer,
  findLiveDepositAddress,
  holdPlaces,
  insertDepositAddress,
  moveDepositAddress,
  readDepositAddress,
  touchDepositAddress,
} from '../db/deposit-addresses.js';
import { Retryable, UniqueViolation } from '../db/errors.js';
import { wakeUnmatched } from '../db/inbox.js';
import { newId } from '../db/new-id.js';
import type { RequestOutcome } from '../db/requests.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { CUSTODY_CREATES } from '../providers/custody/client.js';
import type { CustodyAddress } from '../providers/custody/schema.js';
import { ProviderError } from '../providers/errors.js';
import { makeTraceparent } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';
import { answerKept, keepOutcome } from './keep-request.js';
import { paceMs } from './pace.js';

export type DepositAddressActivities = ReturnType<typeof createDepositAddressActivities>;

interface OfAddress {
  readonly id: string;
  readonly traceId: string;
}

const ACTOR = 'worker:custody';

/** Making a permanent deposit address: reserve its name, create once at the custodian, ask when the answer is lost. */
export function createDepositAddressActivities(deps: ActivityDeps) {
  return {
    /** Keeps the request and takes the natural name, in one commit; any second run is answered by the first's row. */
    async databaseReserveDepositAddress(input: DepositAddressInput): Promise<Accepted> {
      return retrying(() => inTransaction(deps.pool, (tx) => reserve(tx, input)));
    },

    /** One POST. What proves that nothing was made may be tried again; every other failure is `unknown`. */
    async providerCreateDepositAddress(of: OfAddress & { tries?: number }): Promise<DepositAddressTry> {
      const address = await readDepositAddress(queriesOf(deps.pool), of.id);
      if (address.state === 'active' || address.state === 'failed') return tryOf(address, { outcome: address.state });
      try {
        const made = await deps.custody({ book: address.book, account: address.providerAccount }).createAddress(
          {
            reference: address.id,
            network: address.network,
            asset: address.asset,
            settleIn: address.settlementAsset,
          },
          { traceparent: makeTraceparent(of.traceId) },
        );
        return await activate(deps, { address, made, traceId: of.traceId });
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return afterFailure(deps, { traceId: of.traceId, tries: of.tries ?? 0, address, error });
      }
    },

    /** Notes that nobody knows whether it was made; answers when to look. */
    async databaseSuspectDepositAddress(of: OfAddress): Promise<DepositAddressTry> {
      return inTransaction(deps.pool, async (tx) => {
        const move = { from: ['preparing'], to: 'unknown', reason: 'create_unanswered', actor: ACTOR } as const;
        await moveDepositAddress(tx, of.id, { ...move, traceId: of.traceId });
        const address = await readDepositAddress(tx, of.id);
        if (address.state === 'active' || address.state === 'failed') return tryOf(address, { outcome: address.state });
        return tryOf(address, { outcome: 'absent', waitMs: deps.config.SVERKA_UNKNOWN_LOOKUP_INTERVAL });
      });
    },

    /** Looks it up by our reference. Absence alone decides nothing, but the same POST is permitted past the lag. */
    async providerReadDepositAddress(of: OfAddress & { looks: number }): Promise<DepositAddressTry> {
      const address = await readDepositAddress(queriesOf(deps.pool), of.id);
      if (address.state === 'active' || address.state === 'failed') return tryOf(address, { outcome: address.state });
      const found = await deps
        .custody({ book: address.book, account: address.providerAccount })
        .readAddressByReference(address.id, { traceparent: makeTraceparent(of.traceId) });
      if (found) return await activate(deps, { address, made: found, traceId: of.traceId });
      return absent(deps, { address, ...of });
    },
  };
}

async function reserve(tx: Tx, input: DepositAddressInput): Promise<Accepted> {
  return (await answerKept(tx, input)) ?? keepOutcome(tx, input, await takeName(tx, input));
}

/** One live address per owner, network and asset: the same content is that one, other content is refused. */
async function takeName(tx: Tx, input: DepositAddressInput): Promise<RequestOutcome> {
  const { book, merchantId, customerRef, network, asset, settlementMode, settlementAsset } = input;
  const customerId =
    customerRef === null
      ? null
      : await ensureCustomer(tx, { id: newId('customer'), book, merchantId, ref: customerRef });
  const id = newId('depositAddress');
  if (await insertDepositAddress(tx, { ...input, id, customerId, actor: `merchant:${merchantId}` })) {
    return { resource: { type: 'deposit_address', id, made: true }, refusal: null };
  }
  const taken = await findLiveDepositAddress(tx, { book, merchantId, customerId, network, asset });
  if (!taken) throw new Retryable('The address of that name has failed meanwhile.', { cause: input.request.id });
  if (taken.settlementMode === settlementMode && taken.settlementAsset === settlementAsset) {
    return { resource: { type: 'deposit_address', id: taken.id, made: false }, refusal: null };
  }
  const detail =
    'An address for this owner, network and asset exists with another settlement, which is fixed at birth.';
  return { resource: null, refusal: { code: 'already_exists', detail } };
}

/** Found or made, in the answer or by reference: the same apply. What waited for the address is looked at again. */
async function activate(
  deps: ActivityDeps,
  of: { address: DepositAddressRecord; made: CustodyAddress; traceId: string },
): Promise<DepositAddressTry> {
  const { address, made, traceId } = of;
  const differs =
    made.network !== address.network || made.asset !== address.asset || made.settleIn !== address.settlementAsset;
  if (differs) return fail(deps, { address, reason: 'made_differently', traceId });
  try {
    return tryOf(address, { outcome: await retrying(() => inTransaction(deps.pool, (tx) => bind(tx, of))) });
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    // Two owners of one address: nobody could say whose a deposit is.
    return fail(deps, { address, reason: 'address_already_used', traceId });
  }
}

async function bind(
  tx: Tx,
  { address, made, traceId }: { address: DepositAddressRecord; made: CustodyAddress; traceId: string },
): Promise<'active' | 'failed'> {
  // Places, inbox, subject. What is woken although the address has ended otherwise meanwhile is only looked at again.
  await holdPlaces(tx, [depositPlace(made)]);
  await wakeUnmatched(tx, depositPlace(made));
  const moved = await moveDepositAddress(tx, address.id, {
    from: ['preparing', 'unknown'],
    to: 'active',
    reason: null,
    actor: ACTOR,
    traceId,
    made: { providerRef: made.id, address: made.address, tag: made.tag },
  });
  if (!moved) return endOf(tx, address);
  if (address.state === 'unknown' || address.needsOperator) await resolveAlert(tx, alertKey(address));
  return 'active';
}

/** How another attempt, which was only thought to be dead, has ended it meanwhile. */
async function endOf(tx: Tx, { id }: DepositAddressRecord): Promise<'active' | 'failed'> {
  const { state } = await readDepositAddress(tx, id);
  if (state === 'active' || state === 'failed') return state;
  throw new Error(`Deposit address ${id} is ${state} and did not move.`);
}

async function afterFailure(
  deps: ActivityDeps,
  of: { address: DepositAddressRecord; error: ProviderError; traceId: string; tries: number },
): Promise<DepositAddressTry> {
  const { address, error, traceId, tries } = of;
  const { config } = deps;
  if (error.kind === 'rejected') return fail(deps, { address, reason: 'rejected_by_provider', traceId });
  if (!error.provesNothingMade) return tryOf(address, { outcome: 'unknown' });
  if (error.kind === 'misconfigured') {
    await raiseAlert(queriesOf(deps.pool), {
      key: alertKey(address),
      kind: 'provider_misconfigured',
      book: address.book,
      subject: { type: 'deposit_address', id: address.id },
      detail: error.message,
      traceId,
    });
    await touchDepositAddress(queriesOf(deps.pool), address.id, true);
    const waitMs = config.SVERKA_MISCONFIGURED_INTERVAL;
    return tryOf(address, { outcome: 'not_sent', waitMs, needsOperator: true });
  }
  await touchDepositAddress(queriesOf(deps.pool), address.id, address.needsOperator);
  const waitMs = error.retryAfterMs ?? Math.min(paceMs(config, tries), config.SVERKA_CREATE_RETRY_INTERVAL_MAX);
  return tryOf(address, { outcome: 'not_sent', waitMs, needsOperator: address.needsOperator });
}

async function fail(
  deps: ActivityDeps,
  of: { address: DepositAddressRecord; reason: string; traceId: string },
): Promise<DepositAddressTry> {
  const { address, reason, traceId } = of;
  const outcome = await inTransaction(deps.pool, async (tx) => {
    const move = { from: ['preparing', 'unknown'], to: 'failed', reason, actor: ACTOR, traceId } as const;
    if (!(await moveDepositAddress(tx, address.id, move))) return endOf(tx, address);
    await raiseAlert(tx, {
      key: alertKey(address),
      kind: 'deposit_address_failed',
      book: address.book,
      subject: { type: 'deposit_address', id: address.id },
      detail: `The custodian does not make this address (${reason}). The name is free again; correct the request.`,
      traceId,
    });
    return 'failed';
  });
  return tryOf(address, { outcome });
}

async function absent(
  deps: ActivityDeps,
  of: { address: DepositAddressRecord; looks: number; traceId: string },
): Promise<DepositAddressTry> {
  const { address, looks, traceId } = of;
  // By so many looks without a find the custodian's own lag is long over.
  const needsOperator = looks >= deps.config.SVERKA_UNKNOWN_ALERT_LOOKS;
  const db = queriesOf(deps.pool);
  await touchDepositAddress(db, address.id, needsOperator);
  if (needsOperator) {
    const detail = 'It is not known whether the custodian made this address; look it up there by our reference.';
    const subject = { type: 'deposit_address', id: address.id };
    await raiseAlert(db, {
      key: alertKey(address),
      kind: 'outcome_unknown',
      book: address.book,
      subject,
      detail,
      traceId,
    });
  }
  const { idempotentByReference, lookupLagMs } = CUSTODY_CREATES.createAddress;
  // Twice as long each time, so this look began (2^looks - 1) intervals after the create.
  const sinceMs = deps.config.SVERKA_UNKNOWN_LOOKUP_INTERVAL * (2 ** looks - 1);
  const mayCreateAgain = idempotentByReference && sinceMs > lookupLagMs;
  const waitMs = paceMs(deps.config, looks);
  return tryOf(address, { outcome: 'absent', waitMs, mayCreateAgain, needsOperator });
}

function tryOf(
  address: DepositAddressRecord,
  result: Pick<DepositAddressTry, 'outcome'> & Partial<DepositAddressTry>,
): DepositAddressTry {
  const { outcome } = result;
  const state = outcome === 'not_sent' ? address.state : outcome === 'absent' ? 'unknown' : outcome;
  return { state, needsOperator: false, merchantId: address.merchantId, waitMs: 0, mayCreateAgain: false, ...result };
}

function alertKey(address: DepositAddressRecord): string {
  return `deposit_address:${address.id}`;
}
