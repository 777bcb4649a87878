import { randomUUID } from 'node:crypto';
import { decisionStage, insertDecision } from '../../src/db/decisions.js';
import { UniqueViolation } from '../../src/db/errors.js';
import { newId } from '../../src/db/new-id.js';
import { requestWithdrawal } from '../../src/db/request-withdrawal.js';
import { addWithdrawalDestination, setWithdrawalOffer } from '../../src/db/withdrawal-book.js';
import { leg } from '../../src/domain/journal.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { makePerson } from './decisions.js';
import { movement, openPurse, postNow } from './journal-fixtures.js';
import { TESTER } from './tester.js';
import { ADDRESS, ASSET, FEE, seenWithdrawal } from './withdrawal-rows.js';
import { makeMerchantRow } from './worker-rows.js';
import type { WorkerWorld } from './worker-world.js';

const AMOUNT = 5_000_000n;
const FUNDS = 10_000_000n;

/** A withdrawal that was asked for, of a merchant of its own: one wallet that stands still must not hold up others. */
export interface Asked {
  readonly id: string;
  readonly merchantId: string;
  readonly approver: string;
  readonly operator: string;
}

export async function askForWithdrawals(world: WorkerWorld, count: number): Promise<Asked[]> {
  const { tx, owner } = world;
  const offered = { fee: FEE, smallest: 1n, twoApprovalsFrom: 1_000_000_000n, routes: ['custody', 'manual'] } as const;
  await setWithdrawalOffer(tx, { book: 'live', network: 'tron', asset: ASSET, ...offered }, TESTER);
  await tx.query(`update sverka.withdrawal_policy set cooling_off = '0'`);
  const asked: Asked[] = [];
  for (let n = 0; n < count; n += 1) {
    const merchantId = await makeMerchantRow(world);
    const purse = await openPurse(owner, { asset: ASSET, merchantId });
    await postNow(owner, movement([leg(purse.clearing, -FUNDS), leg(purse.wallet, FUNDS)]));
    const userId = newId('user');
    const login = (role: string) => `${role}-${userId.slice(4)}`;
    await tx.query('select sverka.create_user($1, $2, $3, $4)', [userId, login('asks'), merchantId, ['requester']]);
    const [approver, operator] = [
      await makePerson(owner, login('approves'), ['approver']),
      await makePerson(owner, login('operates'), ['operator']),
    ];
    const of = { book: 'live', merchantId, userId } as const;
    const to = { ...of, label: 'Ours', network: 'tron', address: ADDRESS, tag: null };
    const { id: destinationId } = await addWithdrawalDestination(tx, to);
    const terms = { asset: ASSET, amount: AMOUNT, seenFee: FEE, destinationId, reference: null };
    const { id } = await requestWithdrawal(tx, { ...of, ...terms, key: randomUUID(), traceId: newTraceId() });
    if (id === null) throw new Error('The drill could not ask for a withdrawal.');
    asked.push({ id, merchantId, approver, operator });
  }
  return asked;
}

export async function decideOn(
  { tx, owner }: WorkerWorld,
  { id }: Asked,
  of: { readonly choice: string; readonly userId: string; readonly argument: string | null },
): Promise<void> {
  const decision = {
    subjectType: 'withdrawal',
    subjectId: id,
    reason: 'a drill',
    traceId: newTraceId(),
    ...of,
  } as const;
  const stage = await decisionStage(tx, { type: 'withdrawal', id });
  const seenHash = await seenWithdrawal(owner, id);
  await insertDecision(tx, { ...decision, stage, seenHash }).catch((error: unknown) => {
    // Somebody has decided already, which may be this drill before a kill.
    if (!(error instanceof UniqueViolation)) throw error;
  });
}
