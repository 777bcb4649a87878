import type { DepositAddressInput, DepositInput, SweptInbox } from '../contracts/messages.js';
import { readDepositAddress, strandedDepositAddresses } from '../db/deposit-addresses.js';
import { strandedDeposits } from '../db/deposits.js';
import { alertUnmatched, type ClaimedRow, claimPending } from '../db/inbox.js';
import { findRequest } from '../db/requests.js';
import { seal } from '../db/seal.js';
import { queriesOf, type Tx } from '../db/transaction.js';
import { newTraceId } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';

export type InboxActivities = ReturnType<typeof createInboxActivities>;

const ROWS_PER_SWEEP = 100;
/** A claimed row that nobody marked as done comes again after this long. */
const LEASE_MS = 60_000;
const SEALED_PER_SWEEP = 1_000;

/** Finding what nobody came for. */
export function createInboxActivities(deps: ActivityDeps) {
  return {
    /** One turn of the sweep: overdue notifications, subjects whose workflow is lost, numbering, overdue unmatched. */
    async databaseSweepInbox(): Promise<SweptInbox> {
      const { config } = deps;
      const db = queriesOf(deps.pool);
      const limits = { most: ROWS_PER_SWEEP, graceMs: config.SVERKA_SWEEP_GRACE, leaseMs: LEASE_MS };
      const rows = await claimPending(db, limits);
      const stranded = await strandedDeposits(db, config.SVERKA_STRANDED_AGE);
      const inputs = [...rows.flatMap(toDepositInput), ...stranded.map(toStrandedInput)];
      const closed = await nudgeEach(deps, inputs);
      await restartAddresses(deps, db);
      await alertUnmatched(db, config.SVERKA_UNMATCHED_ALERT_AGE);
      const sealed = await seal(db, SEALED_PER_SWEEP);
      // At once again while a turn was full.
      const full = rows.length === ROWS_PER_SWEEP || sealed >= SEALED_PER_SWEEP;
      return { claimed: rows.length, closed, waitMs: full ? 0 : config.SVERKA_SWEEP_INTERVAL };
    },
  };
}

function toDepositInput(row: ClaimedRow): DepositInput[] {
  if (row.subjectType !== 'deposit' || row.provider !== 'custody') return [];
  const { book, endpoint: account, subjectRef: ref } = row;
  return [{ book, provider: 'custody', account, ref, traceId: row.traceId ?? newTraceId() }];
}

function toStrandedInput(of: { book: 'live' | 'test'; account: string; ref: string }): DepositInput {
  return { book: of.book, provider: 'custody', account: of.account, ref: of.ref, traceId: newTraceId() };
}

/** Nudges each subject once; answers those whose workflow is closed, which the sweep itself reads (R13). */
async function nudgeEach(deps: ActivityDeps, inputs: readonly DepositInput[]): Promise<DepositInput[]> {
  const closed: DepositInput[] = [];
  const bySubject = new Map(inputs.map((input) => [`${input.book} ${input.account} ${input.ref}`, input]));
  for (const input of bySubject.values()) {
    if ((await deps.nudgeDeposit(input, { start: true })) === 'closed') closed.push(input);
  }
  return closed;
}

/** The rows are the truth: an address whose workflow was lost with Temporal's store is made from them. */
async function restartAddresses(deps: ActivityDeps, db: Tx): Promise<void> {
  for (const { id, requestId } of await strandedDepositAddresses(db, deps.config.SVERKA_STRANDED_AGE)) {
    const address = await readDepositAddress(db, id);
    const request = await findRequest(db, requestId);
    if (!request || address.provider !== 'custody') continue;
    const { key, method, path } = request;
    const input: DepositAddressInput = {
      book: address.book,
      provider: 'custody',
      account: address.providerAccount,
      merchantId: address.merchantId,
      request: { id: requestId, key, method, path, fingerprint: request.fingerprint.toString('hex') },
      customerRef: address.customerRef,
      network: address.network,
      asset: address.asset,
      settlementMode: address.settlementMode,
      settlementAsset: address.settlementAsset,
      traceId: request.traceId ?? newTraceId(),
    };
    await deps.startDepositAddress(input);
  }
}
