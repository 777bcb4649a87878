import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import {
  applyWithdrawalDecision,
  applyWithdrawalPayout,
  submitWithdrawal,
  suspectWithdrawal,
} from '../../src/db/withdrawal-doors.js';
import type { WithdrawalChoice } from '../../src/domain/withdrawal.js';
import { ADDRESS, ASSET, type Withdrawing } from './withdrawal-rows.js';

/** A withdrawal walked through its states as console and worker do, without a workflow. Amounts are `request`'s. */
export interface WithdrawalMoves {
  decide(id: string, choice: WithdrawalChoice, by: string): Promise<void>;
  submit(id: string): Promise<void>;
  suspect(id: string): Promise<void>;
  /** The custodian says that it was paid, by that transaction; null: that it shows none. */
  read(id: string, payout: { id: string; txHash: string; fee?: bigint } | null): Promise<void>;
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

export function withdrawalMoves(it: Withdrawing): WithdrawalMoves {
  return {
    async decide(id, choice, by) {
      await it.decide(id, choice, { by });
      await inTransaction(it.worker, (tx) => applyWithdrawalDecision(tx, { id, traceId: TRACE }, null));
    },
    submit: (id) => inTransaction(it.worker, (tx) => submitWithdrawal(tx, { id, runId: 'run', traceId: TRACE })),
    suspect: (id) => inTransaction(it.worker, (tx) => suspectWithdrawal(tx, { id, traceId: TRACE })),
    async read(id, payout) {
      const [row] = await queriesOf(it.worker).query<{ ticket: bigint; amount: string }>(
        `select nextval('sverka.read_ticket') as ticket, amount::text from sverka.withdrawal where id = $1`,
        [id],
      );
      const said = payout && {
        ...{ id: payout.id, status: 'completed', txHash: payout.txHash },
        fee: { asset: ASSET, amount: payout.fee ?? 300_000n },
      };
      const transfer = payout && {
        ...{ network: 'tron', asset: ASSET, to: ADDRESS, tag: null },
        ...{ amount: BigInt(row?.amount ?? 0), status: 'completed' },
      };
      await inTransaction(it.worker, (tx) =>
        applyWithdrawalPayout(tx, {
          ...{ id, ticket: row?.ticket ?? 0n, payout: said, transfer },
          ...{ declined: null, needsPerson: false, traceId: TRACE },
        }),
      );
    },
  };
}
