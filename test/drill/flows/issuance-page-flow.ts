import { randomBytes } from 'node:crypto';
import type { IssuanceInput, IssuancePages } from '../../../src/contracts/messages.js';
import { issuanceOf } from '../../support/issuance-rows.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import type { Flow } from '../flow.js';
import { cardsAtIssuer, cardsOfOurs, changeCards, issueAgain, wishCards } from '../issuance-truth.js';
import { resultOf } from '../result-of.js';
import { withWorker } from '../with-worker.js';

const CARDS = 2;

/** A page of the reconciliation over cards whose webhook was lost, and whose workflow as well. An account for each. */
export const issuancePageFlow: Flow = {
  name: 'issuance-page',
  activities: ['pageIssuances'],
  atOnce: 18,
  async arrange(world, count) {
    const accounts = Array.from({ length: count }, () => `account-${randomBytes(4).toString('hex')}`);
    const inputs: IssuanceInput[] = [];
    for (const account of accounts) inputs.push(...(await wishCards(world, CARDS, { account, product: 'async' })));
    await makePending(world, inputs);
    let runs = 0;
    const idOf = (account: string) => `issuance-reconcile-${world.temporal.taskQueue}-${account}-${runs}`;
    const run = async () => {
      runs += 1;
      for (const account of accounts) await startRun(world, account, idOf(account));
    };
    // What a stopped process has locked is left to the next run of the schedule.
    const ended = async () => {
      for (let failed = await failures(); failed > 0; failed = await failures()) await run();
    };
    const failures = async () => {
      const results = accounts.map((account) => resultOf(world, idOf(account)) as Promise<IssuancePages>);
      return (await Promise.all(results)).reduce((sum, { failed }) => sum + failed, 0);
    };
    return {
      start: run,
      finish: ended,
      async again() {
        await withWorker(world, async () => {
          await run();
          await ended();
        });
        await issueAgain(world, inputs);
      },
    };
  },
  truth: cardsAtIssuer,
  ours: cardsOfOurs,
};

/** Submitted, pending, and then made at the issuer: nobody follows them. */
async function makePending(world: WorkerWorld, inputs: readonly IssuanceInput[]): Promise<void> {
  await issueAgain(world, inputs);
  for (const input of inputs) await changeCards(world, [await issuanceOf(world, input)]);
}

async function startRun({ temporal }: WorkerWorld, account: string, workflowId: string): Promise<void> {
  const { client, taskQueue } = temporal;
  const input = { book: 'live', provider: 'issuer', account } as const;
  await client.workflow.start('issuanceReconcile', { workflowId, taskQueue, args: [input] });
}
