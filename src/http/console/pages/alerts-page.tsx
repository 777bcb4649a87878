import type { Child } from 'hono/jsx';
import type { AlertRecord } from '../../../db/alerts-listing.js';
import { listAlertsForConsole } from '../../../db/console-lists.js';
import type { SignedCall } from '../../pages/call.js';
import { ageColumn, idColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ConsoleDeps } from '../console-deps.js';
import { subjectHref } from '../subject-href.js';

/** What somebody must see; an alert of no book belongs to both. */
export async function alertsPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  return answerListPage(call, {
    ...{ path: '/operator/alerts', title: 'nav_alerts', name: 'alerts', defaultSort: 'created' },
    filters: [
      { name: 'q', label: 'filter_search' },
      { name: 'state', label: 'col_state', choices: ['open', 'resolved'], prefix: 'state' },
      { name: 'kind', label: 'col_kind' },
    ],
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listAlertsForConsole(deps.db, { ...asked, book: view.book }),
    views: [
      { title: 'state_open', query: { state: 'open' } },
      { title: 'state_resolved', query: { state: 'resolved' } },
      { title: 'all', query: {} },
    ],
  });
}

const COLUMNS: readonly Column<AlertRecord>[] = [
  idColumn({ title: 'col_id', id: (row) => row.id, href: (row) => `/operator/trace/${row.id}` }),
  textColumn({ title: 'col_kind', name: 'kind', text: (row) => row.kind, sort: 'kind', class: 'value' }),
  {
    ...{ title: 'col_what', class: 'keep' },
    cell: ({ detail, subjectType, subjectId }) => (
      <>
        {detail}
        {subjectId === null ? null : <span class="sub">{subjectOf(subjectType ?? '', subjectId)}</span>}
      </>
    ),
    csv: { names: ['detail', 'subject_id'], cells: (row) => [row.detail, row.subjectId] },
  },
  stateColumn({ state: (row) => row.state }),
  textColumn({
    ...{ title: 'col_times', name: 'times', sort: 'times', isFigure: true, class: 'p2' },
    text: (row) => `${row.times}`,
  }),
  timeColumn({ title: 'col_last_read', name: 'last_seen_at', at: (row) => row.lastSeenAt, sort: 'seen', class: 'p3' }),
  ageColumn({ name: 'opened_at', since: (row) => row.openedAt, sort: 'created' }),
];

/** What it is about, with a link where that has a page. */
function subjectOf(type: string, id: string): Child {
  const href = subjectHref(type, id);
  return href === null ? (
    <span class="id">{id}</span>
  ) : (
    <a class="id" href={href}>
      {id}
    </a>
  );
}
