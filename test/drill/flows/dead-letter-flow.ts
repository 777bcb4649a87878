import { buryRow } from '../../../src/db/dead-letters.js';
import { newTraceId } from '../../../src/telemetry/trace.js';
import { decideAs, makePerson } from '../../support/decisions.js';
import { eventually } from '../../support/simulated-custody.js';
import { startSweep, storeNotification } from '../../support/worker-inbox.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import { arriveMany, depositsAtProvider, depositsInJournal, readAgain, untilState } from '../deposit-truth.js';
import type { Flow } from '../flow.js';
import { SHORT_LEASE } from './sweep-flow.js';

/** A dead letter whose record became readable, and which a person has replayed. */
export const deadLetterFlow: Flow = {
  name: 'dead-letter',
  activities: ['databaseSweepDeadLetters'],
  atOnce: 1,
  settings: SHORT_LEASE,
  async arrange(world, count) {
    const deposits = await arriveMany(world, count);
    const userId = await makePerson(world.owner, `drill-${deposits[0]?.ref}`);
    for (const { ref } of deposits) {
      await storeNotification(world, ref);
      await decideAs(world.owner, { type: 'dead_letter', id: await bury(world, ref), choice: 'replay', userId });
    }
    let sweep: string | null = null;
    return {
      async start() {
        sweep = await startSweep(world);
      },
      async finish() {
        await untilState(world, deposits, 'final');
        const open = `select 1 from sverka.dead_letter where closed_at is null`;
        await eventually(async () => (await world.owner.query(open)).rowCount === 0);
        if (sweep !== null) await world.temporal.client.workflow.getHandle(sweep).terminate('the cell is over');
      },
      again: () => readAgain(world, deposits),
    };
  },
  truth: depositsAtProvider,
  async ours(world) {
    // One decision is one replay.
    const { rows } = await world.owner.query<{ line: string }>(
      `select format('%s was replayed %s times, with %s outcomes', l.id, l.replays, o.outcomes) as line
         from sverka.dead_letter l, lateral (select count(*) as outcomes from sverka.decision c
           join sverka.decision_outcome o on o.decision_id = c.id and o.outcome = 'applied'
           where c.subject_id = l.id) o
        where l.replays <> 1 or o.outcomes <> 1`,
    );
    return [...(await depositsInJournal(world)), ...rows.map(({ line }) => line)];
  },
};

/** As after ten failures of its own. */
async function bury({ tx, owner }: WorkerWorld, ref: string): Promise<string> {
  const { rows } = await owner.query<{ id: string }>('select id from sverka.inbox where subject_ref = $1', [ref]);
  const inboxId = rows[0]?.id ?? ref;
  await buryRow(tx, { inboxId, reason: 'unreadable_record', attempts: 10 }, newTraceId());
  const letters = await owner.query<{ id: string }>('select id from sverka.dead_letter where inbox_id = $1', [inboxId]);
  return letters.rows[0]?.id ?? ref;
}
