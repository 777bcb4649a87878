import type { IssuanceRecord } from '../../contracts/card.js';
import { isLinkedCard } from '../../contracts/decision.js';
import { latestIssuance } from '../../db/issuances.js';
import { pendingIssuance } from '../../db/pending-decisions.js';
import { decidableIssuance, ISSUANCE_CHOICES } from '../../domain/issuance-decision.js';
import { argument, type Command, type CommandInput, type Context, textOption } from '../command.js';
import { choiceOf, DECISION_OPTIONS, decide, type Pending, stillThere } from '../decide.js';
import { CliFailure } from '../failure.js';
import { issuanceFacts, toIssuanceResource } from '../issuance-resource.js';
import { requireIssuance } from './issuances.js';

export const decideIssuanceCommand: Command = {
  path: ['issuances', 'decide'],
  summary: 'a person’s decision on an issuance that waits for one; shows it, and ends with 5, without a choice',
  args: [{ name: '<id>', description: 'iss_…, or card_… for the newest of that card' }],
  options: [
    { flags: '--link <provider_ref>', description: 'this card at the issuer is the one: settle with it' },
    { flags: '--declare-failed', description: 'no card was made, or the one found late is dealt with: money back' },
    { flags: '--issue-again', description: 'a new card, knowing the old one: a fresh reserve, the fee of now' },
    ...DECISION_OPTIONS,
  ],
  examples: [
    'issuances decide iss_01kb…',
    'issuances decide card_01kb… --declare-failed --reason "the issuer has no such card" --as operator --yes',
    'issuances decide iss_01kb… --link icd_77 --reason "found by the issuer’s desk" --as operator --yes',
  ],
  async run(context, input) {
    const choice = choiceOf(input, ISSUANCE_CHOICES);
    const named = linkOf(input);
    const { record, pending } = await pendingOf(context, argument(input, 0));
    return decide(context, input, {
      choice,
      argument: named,
      pending,
      nudge: (traceId) => nudge(context, record, traceId),
      after: () => standing(context, record),
    });
  },
};

/** The card at the issuer that `--link` names; a card's own number never gets into a row. */
function linkOf(input: CommandInput): string | null {
  const ref = textOption(input, 'link');
  if (ref === null) return null;
  if (!isLinkedCard(ref)) {
    throw new CliFailure('usage', '--link takes the issuer’s id of the card, as `issuances show` has it; no number.');
  }
  return ref;
}

async function pendingOf(context: Context, id: string): Promise<{ record: IssuanceRecord; pending: Pending }> {
  const { id: issuanceId } = await requireIssuance(context, id);
  const { record, alert, ...found } = stillThere(await pendingIssuance(context.db(), issuanceId));
  const pressing = { alert, choices: decidableIssuance(record) };
  return {
    record,
    pending: {
      ...found,
      title: `issuance ${issuanceId}`,
      document: { ...toIssuanceResource(record), ...pressing },
      facts: [...issuanceFacts(record), ['alert', alert]],
    },
  };
}

async function standing(context: Context, { id, cardId }: IssuanceRecord) {
  const record = await requireIssuance(context, id);
  const latest = await latestIssuance(context.db(), cardId);
  const issuance = toIssuanceResource(record);
  const because = issuance.reason === null ? '' : ` (${issuance.reason})`;
  const again = latest === null || latest.id === id ? '' : ` The card is issued again by ${latest.id}.`;
  return { document: issuance, text: `The issuance is ${issuance.state}${because}.${again}` };
}

/** The issuance's workflow looks; for one that has ended, or when Temporal is away, the sweep does. */
async function nudge(context: Context, { workflowId }: IssuanceRecord, traceId: string): Promise<void> {
  try {
    const [temporal, { nudgeIssuance }] = await Promise.all([context.temporal(), import('../../client/issuances.js')]);
    await nudgeIssuance({ ...temporal, taskQueue: context.profile().taskQueue }, { workflowId, traceId });
  } catch {
    context.note('Temporal could not be asked to look at once; the sweep applies the decision when it is back.');
  }
}
