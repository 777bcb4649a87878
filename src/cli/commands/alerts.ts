import { toTime } from '../../contracts/values.js';
import { type AlertRecord, listAlerts } from '../../db/alerts-listing.js';
import { answerList } from '../answer-list.js';
import type { Command } from '../command.js';
import { utc } from '../output.js';

export const listAlertsCommand: Command = {
  path: ['alerts', 'list'],
  summary: 'what a person must see, opened last first',
  options: [{ flags: '--all', description: 'resolved ones, too' }],
  examples: ['alerts list', 'alerts list --all --json'],
  run(context, input) {
    const { out, flags } = context;
    const all = input.options['all'] === true;
    return answerList(context, {
      scope: ['alerts', 'list', `all=${all}`],
      find: (page) => listAlerts(context.db(), { all, book: flags.book }, page),
      show: toAlert,
      position: (record) => record.id,
      columns: [
        { title: 'ID' },
        { title: 'KIND' },
        { title: 'STATE' },
        { title: 'TIMES', align: 'right' },
        { title: 'OPENED (UTC)' },
        { title: 'ABOUT' },
        { title: 'WHAT' },
      ],
      cells: (alert) => [
        alert.id,
        alert.kind,
        { text: alert.state, mark: alert.state === 'open' ? out.mark.bad : out.mark.dim },
        String(alert.times),
        utc(alert.opened_at),
        alert.subject?.id ?? '–',
        alert.detail,
      ],
    });
  },
};

function toAlert(alert: AlertRecord) {
  const { id, key, kind, book, subjectType, subjectId, state, times, detail, traceId } = alert;
  const subject = subjectType === null || subjectId === null ? null : { type: subjectType, id: subjectId };
  return {
    ...{ object: 'alert', id, key, kind, book, subject, state, times, detail, trace_id: traceId },
    opened_at: toTime(alert.openedAt),
    last_seen_at: toTime(alert.lastSeenAt),
    resolved_at: toTime(alert.resolvedAt),
  };
}
