import { setTimeout as pause } from 'node:timers/promises';
import { createIssuanceReadActivities } from '../../src/activities/issuance-reads.js';
import { createIssuanceActivities } from '../../src/activities/issuances.js';
import { nudgeIssuance, startIssuance } from '../../src/client/issuances.js';
import type { IssuanceInput } from '../../src/contracts/messages.js';
import { openDecisions } from '../../src/db/decisions.js';
import { UniqueViolation } from '../../src/db/errors.js';
import { decimalsOf } from '../../src/domain/assets.js';
import { parseAmount } from '../../src/domain/money.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { decideAs, makePerson } from '../support/decisions.js';
import { type IssuanceFacts, issuanceInput, issuanceRow, makeBuyer, workflowIdOf } from '../support/issuance-rows.js';
import { eventually } from '../support/simulated-custody.js';
import { notificationsOf, storeNotification } from '../support/worker-inbox.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { resultOf } from './result-of.js';
import { oneAccount } from './with-worker.js';

/** In front of an issuance's id: a card that a person had made by other means. */
export const BY_HAND = 'by-hand-';

/** Every card of the issuer's that is one or was refused, with what it was made for and the load it has. */
export async function cardsAtIssuer({ issuer }: WorkerWorld): Promise<string[]> {
  const { objects } = await issuer.truth();
  const cards: Record<string, unknown>[] = objects.cards ?? [];
  return cards.map(({ id, reference, status, load }) => {
    const what = `${id} for ${String(reference).replace(BY_HAND, '')}`;
    if (status === 'declined' || status === 'pending') return `${what} is ${status}`;
    const { amount, asset } = load as { amount: string; asset: string };
    return `${what} with ${parseAmount(amount, decimalsOf(asset))} ${asset}`;
  });
}

/**
 * The same lines out of what we have: of a settled issuance what the journal put on its card, of one found late what it
 * had asked for, and how each other one stands.
 */
export async function cardsOfOurs(world: WorkerWorld): Promise<string[]> {
  // What a person gave up may turn up, or be refused, afterwards: it reads so then.
  await lookLate(world);
  const { rows } = await world.owner.query<{ line: string }>(
    `select format('%s for %s with %s %s', i.provider_ref, i.id, coalesce(e.amount, 0), i.asset) as line
       from sverka.issuance i
       left join ledger.movement m on m.subject_id = i.id and m.kind = 'issuance_settle'
       left join ledger.account a on a.kind = 'card' and a.ref = i.card_id
       left join ledger.entry e on e.movement_id = m.id and e.account_id = a.id
      where i.state = 'active'
     union all
     select format('%s for %s with %s %s', i.provider_ref, i.id, i.load_amount, i.asset)
       from sverka.issuance i where i.state = 'found_late'
     union all
     select format('%s for %s is declined', i.provider_ref, i.id)
       from sverka.issuance i 
       where i.state = 'failed' and (i.reason = 'issuer_declined' or i.provider_status = 'declined')
     union all
     select format('%s for %s is %s', i.provider_ref, i.id, i.state)
       from sverka.issuance i where i.state in ('reserved', 'submitted', 'pending', 'unknown')`,
  );
  return rows.map(({ line }) => line);
}

/** A card may turn up after a person gave it up, made by a process that was away meanwhile: reconciliation finds it. */
async function lookLate({ owner, deps }: WorkerWorld): Promise<void> {
  const { rows } = await owner.query<{ id: string }>(
    `select id from sverka.issuance where state = 'failed' and reason = 'declared_failed'`,
  );
  const { providerReadIssuance } = createIssuanceReadActivities(oneAccount(deps));
  for (const { id } of rows) await providerReadIssuance({ id, traceId: newTraceId(), looks: 0 });
}

/** A card each for a merchant of its own: what stands still on one wallet must not hold up the others. */
export async function wishCards(
  world: WorkerWorld,
  count: number,
  { document, ...of }: Partial<IssuanceInput> & { document?: string } = {},
): Promise<IssuanceInput[]> {
  const wish = async () =>
    issuanceInput(await makeBuyer(world, document === undefined ? {} : { document }), 'a card', of);
  const inputs: IssuanceInput[] = [];
  for (let n = 0; n < count; n += 1) inputs.push(await wish());
  return inputs;
}

export async function startCards({ temporal }: WorkerWorld, inputs: readonly IssuanceInput[]): Promise<void> {
  for (const input of inputs) await startIssuance(temporal, input);
}

export async function untilCardState(
  world: WorkerWorld,
  inputs: readonly IssuanceInput[],
  state: string,
): Promise<IssuanceFacts[]> {
  const found: IssuanceFacts[] = [];
  for (const input of inputs) {
    found.push(
      await eventually(async () => {
        const row = await issuanceRow(world, input);
        return row?.state === state && row;
      }),
    );
  }
  return found;
}

/** As the relay does: stores the issuer's notification, then nudges. */
export async function notifyCards(world: WorkerWorld, rows: readonly IssuanceFacts[]): Promise<void> {
  for (const { id } of rows) await storeNotification(world, id, 'card');
  await nudgeCards(world, rows);
}

export async function nudgeCards({ temporal }: WorkerWorld, rows: readonly IssuanceFacts[]): Promise<void> {
  for (const { workflowId } of rows) await nudgeIssuance(temporal, { workflowId, traceId: newTraceId() });
}

/** Each pending card of the issuer's becomes one, or what is said of it. */
export async function changeCards(
  { issuer }: WorkerWorld,
  rows: readonly { providerRef: string | null }[],
  body: object = { status: 'active' },
): Promise<void> {
  for (const { providerRef } of rows) await issuer.drive('PATCH', `/_sim/cards/${providerRef}`, body);
}

/** Each workflow has ended and no notification waits. A person declares failed what the issuer has no card of. */
export async function untilIssued(world: WorkerWorld, inputs: readonly IssuanceInput[]): Promise<void> {
  const ended = new AbortController();
  const all = Promise.all(inputs.map((input) => resultOf(world, workflowIdOf(input))));
  const person = async () => {
    for (; !ended.signal.aborted; await pause(200)) await decideUnknown(world);
  };
  await Promise.all([all.finally(() => ended.abort()), person()]);
  for (const input of inputs) {
    const row = await issuanceRow(world, input);
    await eventually(async () => row && /^(done,?)*$/.test(await notificationsOf(world, row.id)));
  }
}

let people = 0;

/** What a person does about cards whose outcome is unknown: asks the issuer, and gives up what he does not have. */
export async function decideUnknown(world: WorkerWorld): Promise<void> {
  const { rows } = await world.owner.query<IssuanceFacts>(
    `select id, workflow_id as "workflowId" from sverka.issuance where state = 'unknown'`,
  );
  if (rows.length === 0) return;
  const { effects } = await world.issuer.truth();
  for (const row of rows) {
    if (effects.some(({ reference }) => reference === row.id)) continue;
    const decided = await openDecisions(world.tx, { type: 'issuance', ids: [row.id] });
    if (decided.length === 0) {
      people += 1;
      const userId = await makePerson(world.owner, `drill-${row.id}-${people}`);
      // Another look of ours may have been first.
      await decideAs(world.owner, { type: 'issuance', id: row.id, choice: 'declare_failed', userId }).catch(
        (error: unknown) => {
          if (!(error instanceof UniqueViolation)) throw error;
        },
      );
    }
    await nudgeCards(world, [row]).catch(() => undefined);
  }
}

/** Every activity of it once more, as a second run would after Temporal's retention: the rows answer. */
export async function issueAgain(world: WorkerWorld, inputs: readonly IssuanceInput[]): Promise<void> {
  const deps = oneAccount(world.deps);
  const activities = { ...createIssuanceActivities(deps), ...createIssuanceReadActivities(deps) };
  for (const input of inputs) {
    const { issuanceId } = await activities.databaseReserveIssuance(input);
    if (issuanceId === null) continue;
    const of = { id: issuanceId, traceId: input.traceId, runId: 'another' };
    await activities.databaseSubmitIssuance(of);
    await activities.providerCreateIssuance({ ...of, tries: 0 });
    await activities.databaseSuspectIssuance(of);
    await activities.providerReadIssuance({ ...of, looks: 0 });
  }
}
