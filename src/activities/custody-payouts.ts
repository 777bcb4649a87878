import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import { raiseAlert } from '../db/alerts.js';
import type { InboxSubject } from '../db/inbox.js';
import { queriesOf } from '../db/transaction.js';
import type { PayoutReading, TransferReading } from '../db/withdrawal-doors.js';
import { findAsset } from '../domain/assets.js';
import { parseAmount } from '../domain/money.js';
import type { CustodyClient } from '../providers/custody/client.js';
import type { CustodyPayout, CustodyTransfer } from '../providers/custody/schema.js';
import { makeTraceparent } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';

type OfBook = Pick<WithdrawalRecord, 'book'>;

/** The custodian's account that pays in a book; throws where none is configured. */
export function custodianOf(deps: ActivityDeps, { book }: OfBook): CustodyClient {
  return deps.custody({ book, account: payoutAccount(deps, book) });
}

/** Whose notifications a payout's are: they name the custodian's id of it. */
export function payoutSubject(deps: ActivityDeps, { book }: OfBook, ref: string): InboxSubject {
  return { book, provider: 'custody', endpoint: payoutAccount(deps, book), type: 'payout', ref };
}

/** What the custodian shows under our reference, and the transaction of a payout that he calls completed. */
export async function readPayoutOf(
  deps: ActivityDeps,
  record: WithdrawalRecord,
  traceId: string,
): Promise<{ payout: PayoutReading | null; transfer: TransferReading | null }> {
  const by = { traceparent: makeTraceparent(traceId) };
  const custodian = custodianOf(deps, record);
  const shown = await custodian.readPayoutsByReference(record.id, by);
  if (shown.filter(({ status }) => status !== 'failed').length > 1) await tellSecond(deps, record, traceId);
  const payout = shown.find(({ id }) => id === record.payoutRef) ?? bestOf(shown);
  if (payout === null) return { payout: null, transfer: null };
  const done = payout.status === 'completed' && payout.txHash !== null;
  const transfer = done ? await custodian.readTransfer(payout.txHash ?? '', by) : null;
  return { payout: await toPayoutReading(deps, record, payout), transfer: transfer && transferOf(transfer) };
}

/** The custodian's record in our words; a fee that cannot be read is told to a person and not guessed. */
export async function toPayoutReading(
  deps: ActivityDeps,
  { id, book }: WithdrawalRecord,
  payout: CustodyPayout,
): Promise<PayoutReading> {
  const { status, txHash, fee } = payout;
  const amount = fee === null ? null : minorOf(fee.amount, fee.asset);
  if (fee !== null && amount === null) {
    await raiseAlert(queriesOf(deps.pool), {
      key: `payout_fee:${id}`,
      kind: 'payout_fee_unreadable',
      book,
      subject: { type: 'withdrawal', id },
      detail: 'The network fee that the custodian states for a payout cannot be booked: compare it with his record.',
    });
  }
  return {
    id: payout.id,
    status,
    txHash,
    fee: fee === null || amount === null ? null : { asset: fee.asset, amount },
  };
}

/** A transfer in minor units; one of an unknown asset, or finer than ours, is no payout of ours. */
export function transferOf({ network, asset, to, tag, amount, status }: CustodyTransfer): TransferReading {
  return { network, asset, to, tag, status, amount: minorOf(amount, asset) ?? 0n };
}

function payoutAccount({ config }: ActivityDeps, book: OfBook['book']): string {
  const found = config.providers.find((one) => one.provider === 'custody' && one.book === book);
  if (!found) throw new Error(`No custodian is configured for the ${book} book; set its three SVERKA_ variables.`);
  return found.account;
}

/** One of them counts; what the others paid is a person's to bring back. */
async function tellSecond(deps: ActivityDeps, { id, book }: WithdrawalRecord, traceId: string): Promise<void> {
  await raiseAlert(queriesOf(deps.pool), {
    key: `payout_twice:${id}`,
    kind: 'payout_twice',
    book,
    subject: { type: 'withdrawal', id },
    detail: 'The custodian shows several payouts of one withdrawal: ask him at once which of them were paid.',
    traceId,
  });
}

function bestOf(shown: readonly CustodyPayout[]): CustodyPayout | null {
  return shown.find(({ status }) => status !== 'failed') ?? shown[0] ?? null;
}

function minorOf(amount: string, asset: string): bigint | null {
  const known = findAsset(asset);
  const minor = known === undefined ? null : parseAmount(amount, known.decimals);
  return typeof minor === 'bigint' ? minor : null;
}
