import { decideAs, makePerson } from '../../support/decisions.js';
import { eventually } from '../../support/simulated-custody.js';
import { depositRow } from '../../support/worker-rows.js';
import {
  arriveMany,
  depositsAtProvider,
  depositsInJournal,
  nudgeAll,
  readAgain,
  untilEnded,
  untilState,
} from '../deposit-truth.js';
import type { Flow } from '../flow.js';
import { withWorker } from '../with-worker.js';

/** A parked deposit whose record was corrected, and which a person has tried again. */
export const decisionFlow: Flow = {
  name: 'decision',
  activities: ['providerReadDeposit'],
  atOnce: 18,
  async arrange(world, count) {
    const deposits = await arriveMany(world, count, { tx_hash: null });
    await withWorker(world, async () => {
      await nudgeAll(world, deposits);
      await untilState(world, deposits, 'parked');
      for (const { ref } of deposits) {
        const tx_hash = ref.slice('cdp_'.length).padEnd(64, '0');
        await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { tx_hash });
      }
      // The person sees the corrected record, and decides on what is seen.
      await nudgeAll(world, deposits);
      const read = 'select 1 from sverka.deposit where provider_ref = $1 and tx_hash is not null';
      for (const { ref } of deposits)
        await eventually(async () => (await world.owner.query(read, [ref])).rowCount === 1);
    });
    const userId = await makePerson(world.owner, `drill-${deposits[0]?.ref}`);
    for (const { ref } of deposits) {
      const id = (await depositRow(world, ref))?.id ?? ref;
      await decideAs(world.owner, { type: 'deposit', id, choice: 'retry', userId });
    }
    return {
      start: () => nudgeAll(world, deposits),
      finish: () => untilEnded(world, deposits),
      again: () => readAgain(world, deposits),
    };
  },
  truth: depositsAtProvider,
  ours: depositsInJournal,
};
