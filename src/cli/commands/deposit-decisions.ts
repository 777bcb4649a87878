import { type DepositRecord, toDeposit } from '../../contracts/deposit.js';
import type { DepositInput } from '../../contracts/messages.js';
import { pendingDeposit } from '../../db/pending-decisions.js';
import { DEPOSIT_CHOICES } from '../../domain/deposit-decision.js';
import { argument, type Command, type Context } from '../command.js';
import { choiceOf, DECISION_OPTIONS, decide, type Pending, stillThere } from '../decide.js';
import { depositFacts, requireDeposit } from './deposits.js';

const MEANS: Readonly<Record<(typeof DEPOSIT_CHOICES)[number], string>> = {
  retry: 'a parked one: read and book it as if it were new',
  reject: 'a parked one: it is not credited, for ever',
  orphan: 'a final one that the custodian says has failed: take its money back',
  accept: 'a contradiction: leave the books as they are, and be silent about it while it stays the same',
  drop: 'a waiting one that the custodian shows no more: it is ended, and goes on only if it turns up again',
};

export const decideDepositCommand: Command = {
  path: ['deposits', 'decide'],
  summary: 'a person’s decision on a deposit that waits for one; shows it, and ends with 5, without a choice',
  args: [{ name: '<id>', description: 'dep_…' }],
  options: [
    ...DEPOSIT_CHOICES.map((choice) => ({ flags: `--${choice}`, description: MEANS[choice] })),
    ...DECISION_OPTIONS,
  ],
  examples: [
    'deposits decide dep_01kb…',
    'deposits decide dep_01kb… --retry --reason "the custodian has corrected the asset" --as operator --yes',
  ],
  async run(context, input) {
    const id = argument(input, 0);
    const choice = choiceOf(input, DEPOSIT_CHOICES);
    const { record, pending } = await pendingOf(context, id);
    return decide(context, input, {
      choice,
      pending,
      nudge: (traceId) => nudge(context, record, traceId),
      async after() {
        const now = toDeposit(await requireDeposit(context, id));
        const because = now.reason === null ? '' : ` (${now.reason})`;
        return { document: now, text: `The deposit is ${now.state}${because}.` };
      },
    });
  },
};

async function pendingOf(context: Context, id: string): Promise<{ record: DepositRecord; pending: Pending }> {
  await requireDeposit(context, id);
  const { record, alert, ...found } = stillThere(await pendingDeposit(context.db(), id));
  const { flag, contradiction, acceptedContradiction } = record;
  const deposit = toDeposit(record);
  return {
    record,
    pending: {
      ...found,
      title: `deposit ${id}`,
      document: {
        ...deposit,
        ...{ flag, contradiction, accepted_contradiction: acceptedContradiction, alert },
      },
      facts: [
        // All that the hash covers; `reason` of the resource is the flag where there is one.
        ...depositFacts({ ...deposit, reason: record.reason }, record.book),
        ['flag', flag],
        ['contradiction', contradiction],
        ['accepted', acceptedContradiction],
        ['alert', alert],
      ],
    },
  };
}

/** The deposit's workflow looks; for one that has ended, or when Temporal is away, the sweep does. */
async function nudge(context: Context, record: DepositRecord, traceId: string): Promise<void> {
  const { book, provider, providerAccount: account, providerRef: ref } = record;
  if (provider !== 'custody') return;
  const input: DepositInput = { book, provider, account, ref, traceId };
  try {
    const [temporal, { nudgeDeposit }] = await Promise.all([context.temporal(), import('../../client/deposits.js')]);
    await nudgeDeposit({ ...temporal, taskQueue: context.profile().taskQueue }, input, { start: true });
  } catch {
    context.note('Temporal could not be asked to look at once; the sweep applies the decision when it is back.');
  }
}
