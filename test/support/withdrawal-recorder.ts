import { nudgeWithdrawal } from '../../src/client/withdrawals.js';
import { withdrawalWorkflowId } from '../../src/contracts/ids.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { type Asked, askForWithdrawals, decideOn } from './asked-withdrawals.js';
import { eventually } from './simulated-custody.js';
import { addProof } from './withdrawal-rows.js';
import type { WorkerWorld } from './worker-world.js';

/** Runs each path of a withdrawal once; answers workflow ids by name of the history. */
export async function playWithdrawals(world: WorkerWorld): Promise<Record<string, string>> {
  const [paid, found, byHand, rejected] = await askForWithdrawals(world, 4);
  if (!paid || !found || !byHand || !rejected) throw new Error('Four withdrawals were asked for.');
  await approve(world, paid, 'custody');
  await ended(world, paid);
  const match = { method: 'POST', path: '/v1/payouts' };
  await world.custody.drive('POST', '/_sim/faults', { match, fault: 'lost_answer', times: 1 });
  await approve(world, found, 'custody');
  await ended(world, found);
  await look(world, byHand);
  await approve(world, byHand, 'manual');
  await inState(world, byHand, 'approved');
  await decideOn(world, byHand, { choice: 'pay', userId: byHand.operator, argument: null });
  await look(world, byHand);
  await inState(world, byHand, 'submitted');
  const argument = await addProof({ console: world.owner, operator: byHand.operator }, byHand.id, { file: true });
  await decideOn(world, byHand, { choice: 'complete', userId: byHand.operator, argument });
  await look(world, byHand);
  await ended(world, byHand);
  await look(world, rejected);
  await decideOn(world, rejected, { choice: 'reject', userId: rejected.approver, argument: null });
  await look(world, rejected);
  await ended(world, rejected);
  return {
    'withdrawal-paid': idOf(paid),
    'withdrawal-found': idOf(found),
    'withdrawal-by-hand': idOf(byHand),
    'withdrawal-rejected': idOf(rejected),
  };
}

const idOf = ({ id }: Asked) => withdrawalWorkflowId({ book: 'live', id });

async function approve(world: WorkerWorld, of: Asked, argument: 'custody' | 'manual'): Promise<void> {
  await decideOn(world, of, { choice: 'approve', userId: of.approver, argument });
  await look(world, of);
}

function look({ temporal }: WorkerWorld, { id, merchantId }: Asked): Promise<void> {
  return nudgeWithdrawal(temporal, { book: 'live', id, merchantId, traceId: newTraceId() });
}

async function inState({ tx }: WorkerWorld, { id }: Asked, state: string): Promise<void> {
  await eventually(async () => (await readWithdrawal(tx, id)).state === state);
}

async function ended({ temporal }: WorkerWorld, of: Asked): Promise<void> {
  await temporal.client.workflow.getHandle(idOf(of)).result();
}
