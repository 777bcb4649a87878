import type {
  CardChangeInput,
  CardLoadInput,
  DepositAddressInput,
  DepositInput,
  IssuanceInput,
  IssuanceRef,
  RequestInput,
} from '../contracts/messages.js';
import { strandedCardChanges } from '../db/card-changes.js';
import { readCard } from '../db/cards.js';
import { readDepositAddress, strandedDepositAddresses } from '../db/deposit-addresses.js';
import { strandedDeposits } from '../db/deposits.js';
import { readIssuance, strandedIssuances } from '../db/issuances.js';
import { readLoad, strandedLoads } from '../db/loads.js';
import { findRequest } from '../db/requests.js';
import type { Tx } from '../db/transaction.js';
import { claimWithdrawals } from '../db/withdrawals.js';
import { newTraceId } from '../telemetry/trace.js';
import { type Attempt, eachOf } from './attempts.js';
import type { ActivityDeps } from './deps.js';

const WITHDRAWALS_MAX = 100;
const STRANDED_TIMES = 10;

/** The rows are the truth: a waiting deposit whose workflow was lost gets one again, or is read by the sweep. */
export async function restartDeposits(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<DepositInput[]> {
  const closed: DepositInput[] = [];
  const stranded = await strandedDeposits(db, deps.config.SVERKA_STRANDED_AGE);
  await eachOf(stranded, async ({ book, provider, account, ref }) => {
    if (provider !== 'custody') return;
    const input: DepositInput = { book, provider, account, ref, traceId: newTraceId() };
    const outcome = await attempt(() => deps.nudgeDeposit(input, { start: true, leaveRunning: true }));
    if (outcome === 'closed') closed.push(input);
  });
  return closed;
}

/** The same for an address: it is made from its row and the request behind it. */
export async function restartAddresses(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<void> {
  const stranded = await strandedDepositAddresses(db, deps.config.SVERKA_STRANDED_AGE);
  await eachOf(stranded, async ({ id, requestId }) => {
    const address = await readDepositAddress(db, id);
    const behind = await requestBehind(db, requestId);
    if (behind === null || address.provider !== 'custody') return;
    const input: DepositAddressInput = {
      book: address.book,
      provider: 'custody',
      account: address.providerAccount,
      merchantId: address.merchantId,
      ...behind,
      customerRef: address.customerRef,
      network: address.network,
      asset: address.asset,
      settlementMode: address.settlementMode,
      settlementAsset: address.settlementAsset,
    };
    await attempt(() => deps.startDepositAddress(input));
  });
}

/** The same for an issuance, also for one that a person has begun anew; ended ones are read by the sweep itself. */
export async function restartIssuances(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<IssuanceRef[]> {
  const closed: IssuanceRef[] = [];
  const stranded = await strandedIssuances(db, deps.config.SVERKA_STRANDED_AGE);
  await eachOf(stranded, async ({ id, requestId }) => {
    const record = await readIssuance(db, id);
    const behind = await requestBehind(db, requestId);
    if (behind === null || record.provider !== 'issuer') return;
    const { book, providerAccount: account } = record;
    const input: IssuanceInput = {
      ...{ book, provider: 'issuer', account, merchantId: record.merchantId },
      ...behind,
      ...{ cardholderId: record.cardholderId, product: record.product, asset: record.asset },
      ...{ load: record.loadAmount.toString(), generation: record.generation, issuanceId: id },
    };
    const outcome = await attempt(() => deps.startIssuance(input));
    if (outcome === 'closed') closed.push({ book, provider: 'issuer', account, ref: id, traceId: input.traceId });
  });
  return closed;
}

/** The same for a load: another run of it is answered by its row, and the issuer knows the reference. */
export async function restartLoads(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<void> {
  const stranded = await strandedLoads(db, deps.config.SVERKA_STRANDED_AGE);
  await eachOf(stranded, async ({ id, requestId }) => {
    const { book, merchantId, cardId, asset, amount, provider, providerAccount: account } = await readLoad(db, id);
    const behind = await requestBehind(db, requestId);
    if (behind === null || provider !== 'issuer') return;
    const input: CardLoadInput = {
      ...{ book, provider, account, merchantId, cardId, asset, amount: amount.toString() },
      ...behind,
    };
    await attempt(() => deps.startCardLoad(input));
  });
}

/** The same for a change of a card, also for one whose workflow was never begun. */
export async function restartCardChanges(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<void> {
  const { SVERKA_STRANDED_AGE: olderThanMs, SVERKA_SWEEP_GRACE: graceMs } = deps.config;
  const stranded = await strandedCardChanges(db, { olderThanMs, graceMs });
  await eachOf(stranded, async ({ cardId, number, traceId }) => {
    const { book, merchantId, provider, providerAccount: account } = await readCard(db, cardId);
    if (provider !== 'issuer') return;
    const of = { book, provider, account, merchantId, cardId, number } as const;
    const input: CardChangeInput = { ...of, traceId: traceId ?? newTraceId() };
    await attempt(() => deps.startCardChange(input));
  });
}

/** The same for a withdrawal, also for one whose decision nobody came for: a run that follows it is asked to look. */
export async function restartWithdrawals(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<void> {
  const { SVERKA_SWEEP_GRACE: graceMs, SVERKA_SWEEP_LEASE: leaseMs, SVERKA_STRANDED_AGE } = deps.config;
  // Most wait for a person, for hours: each look costs a little.
  const limits = { most: WITHDRAWALS_MAX, graceMs, leaseMs, strandedMs: SVERKA_STRANDED_AGE * STRANDED_TIMES };
  await eachOf(await claimWithdrawals(db, limits), async (of) => {
    await attempt(() => deps.nudgeWithdrawal({ ...of, traceId: newTraceId() }));
  });
}

/** The call that a row was made by, as its workflow takes it; null when there is none. */
async function requestBehind(db: Tx, id: string): Promise<{ request: RequestInput; traceId: string } | null> {
  const found = await findRequest(db, id);
  if (!found) return null;
  const { key, method, path, fingerprint, traceId } = found;
  return {
    request: { id, key, method, path, fingerprint: fingerprint.toString('hex') },
    traceId: traceId ?? newTraceId(),
  };
}
