import { listDeadLettersForConsole } from '../../../db/console-lists.js';
import type { DeadLetterRecord } from '../../../db/dead-letters.js';
import type { SignedCall } from '../../pages/call.js';
import { ageColumn, idColumn, stateColumn, textColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ConsoleDeps } from '../console-deps.js';

/** What is kept, with its reason, until a person replays or abandons it. */
export async function deadLettersPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  return answerListPage(call, {
    ...{ path: '/operator/deadletters', title: 'nav_dead_letters', name: 'dead-letters', defaultSort: 'created' },
    more: view.t('dead_letters_more'),
    filters: [
      { name: 'q', label: 'filter_search' },
      { name: 'state', label: 'col_state', choices: ['open', 'applied', 'abandoned'], prefix: 'state' },
      { name: 'provider', label: 'col_provider' },
    ],
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listDeadLettersForConsole(deps.db, { ...asked, book: view.book }),
    views: [
      { title: 'state_open', query: { state: 'open' } },
      { title: 'state_applied', query: { state: 'applied' } },
      { title: 'state_abandoned', query: { state: 'abandoned' } },
      { title: 'all', query: {} },
    ],
  });
}

const COLUMNS: readonly Column<DeadLetterRecord>[] = [
  idColumn({ title: 'dead_letter', id: (row) => row.id, href: (row) => `/operator/deadletters/${row.id}` }),
  textColumn({ title: 'col_reason', name: 'reason', text: (row) => row.reason, sort: 'reason', class: 'keep' }),
  stateColumn({ state: (row) => row.closedHow ?? 'open', sort: 'state' }),
  textColumn({
    ...{ title: 'col_about', name: 'about', class: 'p2' },
    text: ({ subjectType, subjectRef }) => (subjectRef === null ? null : `${subjectType} ${subjectRef}`),
  }),
  textColumn({ title: 'col_provider', name: 'provider', text: (row) => row.provider, class: 'p3' }),
  textColumn({
    ...{ title: 'col_attempts', name: 'attempts', sort: 'attempts', isFigure: true, class: 'value' },
    text: (row) => `${row.attempts}`,
  }),
  textColumn({ title: 'col_replays', name: 'replays', text: (row) => `${row.replays}`, isFigure: true, class: 'p3' }),
  ageColumn({ name: 'created_at', since: (row) => row.createdAt, sort: 'created' }),
];
