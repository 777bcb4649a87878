import { toTime } from '../../contracts/values.js';
import { type BreakerRow, listBreakers } from '../../db/breaker.js';
import { answerList } from '../answer-list.js';
import type { Command } from '../command.js';
import { utc } from '../output.js';

export const listBreakersCommand: Command = {
  path: ['breakers', 'list'],
  summary: 'which providers are called, and which are spared because they are unwell',
  examples: ['breakers list', 'breakers list --book live --json'],
  run(context) {
    const { out, flags } = context;
    return answerList(context, {
      scope: ['breakers', 'list'],
      async find({ after, limit }) {
        const all = (await listBreakers(context.db())).map(toBreaker);
        return all
          .filter(({ book, name }) => (flags.book === null || book === flags.book) && (after === null || name > after))
          .slice(0, limit + 1);
      },
      show: (breaker) => breaker,
      position: ({ name }) => name,
      columns: [
        { title: 'PROVIDER' },
        { title: 'BOOK' },
        { title: 'STATE' },
        { title: 'RECENT ERRORS', align: 'right' },
        { title: 'OPEN UNTIL (UTC)' },
        { title: 'CHANGED (UTC)' },
      ],
      cells: (breaker) => [
        breaker.provider,
        breaker.book,
        { text: breaker.state, mark: breaker.state === 'closed' ? out.mark.good : out.mark.bad },
        String(breaker.recent_failures),
        utc(breaker.open_until),
        utc(breaker.changed_at),
      ],
    });
  },
};

/** One that has never failed has no row, and is closed. */
function toBreaker({ name, state, recentFailures, openUntil, changedAt }: BreakerRow) {
  const [provider = '', book = ''] = name.split(':');
  return {
    ...{ object: 'breaker', name, provider, book, state, recent_failures: recentFailures },
    open_until: toTime(openUntil),
    changed_at: toTime(changedAt),
  };
}
