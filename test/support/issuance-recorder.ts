import { nudgeIssuance, requestIssuance, startIssuance } from '../../src/client/issuances.js';
import type { IssuanceInput } from '../../src/contracts/messages.js';
import { eraseCardholder } from '../../src/db/cardholders.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { decideAs, makePerson } from './decisions.js';
import {
  type Buyer,
  type IssuanceFacts,
  issuanceInput,
  issuanceOf,
  issuanceRow,
  makeBuyer,
  workflowIdOf,
} from './issuance-rows.js';
import { eventually } from './simulated-custody.js';
import type { WorkerWorld } from './worker-world.js';

const WITHIN_MS = 10_000;

/** One run of a workflow. */
export interface RunOf {
  readonly workflowId: string;
  readonly runId: string;
}

/** Runs each path of an issuance once; answers workflow ids by name of the history. */
export async function playIssuances(world: WorkerWorld): Promise<Record<string, string>> {
  const buyer = await makeBuyer(world);
  return {
    ...(await playAnswered(world, buyer)),
    ...(await playUnknown(world, buyer)),
    'issuance-erased': await playErased(world),
    'issuance-reconcile': await playReconcile(world, buyer),
  };
}

/** Creates that one run sends before it goes on in a fresh one: each has a wait behind it, and both are steps of it. */
const CREATES_PER_RUN = 51;

/** The issuer has no time for so long that the run goes on in a fresh one; both of them, by name of the history. */
export async function playContinued(world: WorkerWorld): Promise<Record<string, RunOf>> {
  const input = issuanceInput(await makeBuyer(world), 'continued');
  const handle = world.temporal.client.workflow.getHandle(workflowIdOf(input));
  const match = { method: 'POST', path: '/v1/cards' };
  const busy = { fault: 'status', status: 429, retry_after: 0, times: CREATES_PER_RUN + 1 };
  await world.issuer.drive('POST', '/_sim/faults', { match, ...busy });
  await requestIssuance(world.temporal, input, WITHIN_MS);
  const { workflowId, runId } = await handle.describe();
  await handle.result();
  const last = await handle.describe();
  if (last.runId === runId) throw new Error(`The issuance ended in its first run; STEPS_PER_RUN is another by now?`);
  return { 'issuance-continues': { workflowId, runId }, 'issuance-continued': { workflowId, runId: last.runId } };
}

/** The issuer says at once, or by a webhook later, what becomes of it; or nothing is asked of him. */
async function playAnswered(world: WorkerWorld, buyer: Buyer): Promise<Record<string, string>> {
  const instant = await begin(world, issuanceInput(buyer, 'instant'));
  await ended(world, instant);
  const refuser = await makeBuyer(world, { document: 'DECLINE:fraud' });
  const declined = await begin(world, issuanceInput(refuser, 'declined'));
  await ended(world, declined);
  const poor = await begin(world, issuanceInput(await makeBuyer(world, { cents: 10n }), 'poor'));
  await ended(world, poor);
  const limited = await begin(world, issuanceInput(buyer, 'limited'), { fault: 'status', status: 429 });
  await ended(world, limited);
  const slow = await begin(world, issuanceInput(buyer, 'slow', { product: 'async' }));
  const pending = await inState(world, slow, 'pending');
  await world.issuer.drive('PATCH', `/_sim/cards/${pending.providerRef}`, { status: 'active' });
  await nudge(world, pending);
  await ended(world, slow);
  return {
    'issuance-instant': workflowIdOf(instant),
    'issuance-declined': workflowIdOf(declined),
    'issuance-refused': workflowIdOf(poor),
    'issuance-limited': workflowIdOf(limited),
    'issuance-pending-nudged': workflowIdOf(slow),
  };
}

/** The answer was lost: found by our reference, or decided by a person. */
async function playUnknown(world: WorkerWorld, buyer: Buyer): Promise<Record<string, string>> {
  const found = await begin(world, issuanceInput(buyer, 'found'), { fault: 'lost_answer' });
  await ended(world, found);
  const given = await begin(world, issuanceInput(buyer, 'given-up'), { fault: 'status', status: 500 });
  await decide(world, await inState(world, given, 'unknown'), 'declare_failed');
  await ended(world, given);
  const again = await begin(world, issuanceInput(buyer, 'again'), { fault: 'status', status: 500 });
  const before = await inState(world, again, 'unknown');
  await decide(world, before, 'issue_again');
  await ended(world, again);
  // As the sweep does: the row is the truth.
  const { id: issuanceId, generation } = await issuanceOf(world, again);
  const next: IssuanceInput = { ...again, issuanceId, generation };
  await startIssuance(world.temporal, next);
  await ended(world, next);
  return {
    'issuance-found': workflowIdOf(found),
    'issuance-given-up': workflowIdOf(given),
    'issuance-given-up-again': workflowIdOf(again),
    'issuance-again': workflowIdOf(next),
  };
}

/** The identity is erased while the create waits for its next try. */
async function playErased(world: WorkerWorld): Promise<string> {
  const buyer = await makeBuyer(world);
  const input = await begin(world, issuanceInput(buyer, 'erased'), { fault: 'status', status: 429 });
  await inState(world, input, 'submitted');
  const { merchantId, cardholderId: id } = buyer;
  await eraseCardholder(world.tx, { id, book: 'live', merchantId, traceId: newTraceId() });
  await ended(world, input);
  return workflowIdOf(input);
}

/** One that waits is settled by the reconciliation; its own run is nudged out of the way afterwards. */
async function playReconcile(world: WorkerWorld, buyer: Buyer): Promise<string> {
  const { client, taskQueue } = world.temporal;
  const input = await begin(world, issuanceInput(buyer, 'reconciled', { product: 'async' }));
  const pending = await inState(world, input, 'pending');
  await world.issuer.drive('PATCH', `/_sim/cards/${pending.providerRef}`, { status: 'active' });
  const workflowId = `issuance-reconcile:live:issuer-${taskQueue}`;
  const of = { book: 'live', provider: 'issuer', account: 'main-live' } as const;
  await client.workflow.execute('issuanceReconcile', { workflowId, taskQueue, args: [of] });
  await nudge(world, await inState(world, input, 'active'));
  await ended(world, input);
  return workflowId;
}

async function begin(world: WorkerWorld, input: IssuanceInput, fault?: object): Promise<IssuanceInput> {
  const match = { method: 'POST', path: '/v1/cards' };
  if (fault) await world.issuer.drive('POST', '/_sim/faults', { match, times: 1, ...fault });
  await requestIssuance(world.temporal, input, WITHIN_MS);
  return input;
}

async function ended({ temporal }: WorkerWorld, input: IssuanceInput): Promise<void> {
  await temporal.client.workflow.getHandle(workflowIdOf(input)).result();
}

function inState(world: WorkerWorld, input: IssuanceInput, state: string): Promise<IssuanceFacts> {
  return eventually(async () => {
    const row = await issuanceRow(world, input);
    return row?.state === state && row;
  });
}

async function nudge({ temporal }: WorkerWorld, { workflowId }: IssuanceFacts): Promise<void> {
  await nudgeIssuance(temporal, { workflowId, traceId: newTraceId() });
}

async function decide(world: WorkerWorld, of: IssuanceFacts, choice: string): Promise<void> {
  const userId = await makePerson(world.owner, `${choice}-${of.id}`);
  await decideAs(world.owner, { type: 'issuance', id: of.id, choice, userId });
  await nudge(world, of);
}
