import { raiseAlert } from './alerts.js';
import type { DepositSource } from './deposits.js';
import type { Tx } from './transaction.js';

/**
 * Notes that the custodian was asked for a deposit and showed nothing. One that we know and that waits counts as read,
 * so that the sweep asks again at its own pace; when nothing was shown for too long it is flagged and a person is told,
 * until a read finds it. Its state stays: a 404 is never a rejection.
 */
export async function noteAbsentDeposit(
  tx: Tx,
  source: DepositSource,
  of: { readonly ref: string; readonly tooLong: boolean; readonly traceId: string },
): Promise<void> {
  const rows = await tx.query<{ id: string }>(
    `update sverka.deposit set last_read_at = clock_timestamp(), flag = case when $5 then 'not_at_provider' else flag end,
       contradiction = case when $5 then 'not_at_provider' else contradiction end
     where book = $1 and provider = $2 and provider_account = $3 and provider_ref = $4
       and state in ('noticed', 'confirming') returning id`,
    [source.book, source.provider, source.account, of.ref, of.tooLong],
  );
  const id = rows[0]?.id;
  if (id === undefined || !of.tooLong) return;
  await raiseAlert(tx, {
    key: `deposit:${id}`,
    kind: 'deposit_needs_person',
    book: source.book,
    subject: { type: 'deposit', id },
    detail:
      'The custodian no longer shows a deposit that waits; no money moved. Ask it what became of the transfer, then ' +
      '`sverka deposits decide --drop` ends it.',
    traceId: of.traceId,
  });
}
