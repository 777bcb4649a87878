import type { DECISION_CHOICES } from '../../contracts/decision.js';
import { toTime } from '../../contracts/values.js';
import { findOpenAlert } from '../../db/alerts-listing.js';
import { type DeadLetterRecord, findDeadLetter, listDeadLetters } from '../../db/dead-letters.js';
import { pendingDeadLetter } from '../../db/pending-decisions.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type Context } from '../command.js';
import { DECISION_OPTIONS, decide, stillThere } from '../decide.js';
import { CliFailure, EXIT } from '../failure.js';
import { utc } from '../output.js';

export const listDeadLettersCommand: Command = {
  path: ['deadletters', 'list'],
  summary: 'notifications that cannot be read or failed for their own fault too often, newest first',
  options: [{ flags: '--all', description: 'closed ones, too' }],
  examples: ['deadletters list', 'deadletters list --all --json'],
  run(context, input) {
    const { out, flags } = context;
    const all = input.options['all'] === true;
    return answerList(context, {
      scope: ['deadletters', 'list', `all=${all}`],
      find: (page) => listDeadLetters(context.db(), { open: !all, book: flags.book }, page),
      show: toDeadLetter,
      position: (record) => record.id,
      columns: [
        { title: 'ID' },
        { title: 'STATE' },
        { title: 'REASON' },
        { title: 'ATTEMPTS', align: 'right' },
        { title: 'REPLAYS', align: 'right' },
        { title: 'ABOUT' },
        { title: 'SINCE (UTC)' },
      ],
      cells: (letter) => [
        letter.id,
        { text: letter.state, mark: letter.state === 'open' ? out.mark.bad : out.mark.dim },
        letter.reason,
        String(letter.attempts),
        String(letter.replays),
        `${letter.subject?.id ?? '–'} at ${letter.provider}/${letter.endpoint}`,
        utc(letter.created_at),
      ],
    });
  },
};

export const showDeadLetterCommand: Command = {
  path: ['deadletters', 'show'],
  summary: 'one dead letter; `trace` shows how it came to this',
  args: [{ name: '<id>', description: 'dl_…' }],
  examples: ['deadletters show dl_01kb…', 'deadletters show dl_01kb… --json'],
  async run(context, input) {
    const { out } = context;
    const letter = await requireDeadLetter(context, argument(input, 0));
    const alert = await findOpenAlert(context.db(), `dead_letter:${letter.inboxId}`);
    out.result(toDeadLetter(letter), () => {
      out.facts([...factsOf(letter), ['alert', alert?.detail ?? null]]);
      out.line(`\nEverything about it: sverka trace ${letter.id}`);
    });
    return EXIT.done;
  },
};

export const replayDeadLetterCommand = decisionCommand('replay', 'have it tried again: once, never by itself');
export const abandonDeadLetterCommand = decisionCommand('abandon', 'close it without an effect');

function decisionCommand(choice: (typeof DECISION_CHOICES.dead_letter)[number], summary: string): Command {
  return {
    path: ['deadletters', choice],
    summary,
    args: [{ name: '<id>', description: 'dl_…' }],
    options: DECISION_OPTIONS,
    examples: [`deadletters ${choice} dl_01kb… --reason "the provider has corrected its record" --as operator --yes`],
    async run(context, input) {
      const id = argument(input, 0);
      await requireDeadLetter(context, id);
      const { record, alert, ...found } = stillThere(await pendingDeadLetter(context.db(), id));
      return decide(context, input, {
        choice,
        pending: {
          ...found,
          title: `dead letter ${id}`,
          document: { ...toDeadLetter(record), alert },
          facts: [...factsOf(record), ['alert', alert]],
        },
        // Only the sweep applies it, within its interval.
        nudge: async () => undefined,
        async after() {
          const now = toDeadLetter(await requireDeadLetter(context, id));
          return { document: now, text: choice === 'replay' ? 'It is tried again now.' : `It is ${now.state}.` };
        },
      });
    },
  };
}

async function requireDeadLetter({ db, flags }: Context, id: string): Promise<DeadLetterRecord> {
  const letter = await findDeadLetter(db(), id);
  if (letter === null || (flags.book !== null && letter.book !== flags.book)) {
    throw new CliFailure('notFound', 'There is no such dead letter. `sverka deadletters list --all` shows all.');
  }
  return letter;
}

function toDeadLetter(letter: DeadLetterRecord) {
  const { id, book, provider, endpoint, inboxId, subjectType, subjectRef, reason, attempts, replays } = letter;
  const subject = subjectType === null || subjectRef === null ? null : { type: subjectType, id: subjectRef };
  return {
    ...{ object: 'dead_letter', id, book, provider, endpoint, inbox_id: inboxId, subject },
    ...{ state: letter.closedHow ?? 'open', reason, attempts, replays },
    ...{ created_at: toTime(letter.createdAt), closed_at: toTime(letter.closedAt) },
  };
}

function factsOf(letter: DeadLetterRecord): (readonly [string, string | null])[] {
  return [
    ['id', letter.id],
    ['book', letter.book],
    ['state', letter.closedHow ?? 'open'],
    ['reason', letter.reason],
    ['attempts', String(letter.attempts)],
    ['replays', String(letter.replays)],
    ['about', letter.subjectRef === null ? null : `${letter.subjectType} ${letter.subjectRef}`],
    ['from', `${letter.provider}/${letter.endpoint}`],
    ['notification', letter.inboxId],
    ['since', utc(letter.createdAt)],
    ['closed', utc(letter.closedAt)],
  ];
}
