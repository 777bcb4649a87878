import { type BalanceCheckRecord, balanceCheckResult } from '../../../contracts/balance.js';
import { findCheckForConsole, listBalanceChecks } from '../../../db/balance-listing.js';
import { readLogins } from '../../../db/names.js';
import { readSubjectTrace } from '../../../db/trace.js';
import type { SignedCall } from '../../pages/call.js';
import { idColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import { notFound } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Fresh, Moment } from '../../pages/parts/moment.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import { actionsOf, CheckState } from '../check-state.js';
import type { ConsoleDeps } from '../console-deps.js';
import { History, peopleOf } from './subject-page.js';

/** The comparisons with what providers state, of the chosen book. */
export async function balanceChecksPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  return answerListPage(call, {
    ...{ path: '/operator/balances/checks', title: 'balance_checks', name: 'balance-checks', defaultSort: '-started' },
    more: <a href="/operator/balances">{view.t('nav_balances')}</a>,
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: ({ filters: { source, result }, after, limit }) =>
      listBalanceChecks(deps.db, {
        ...{ book: view.book, merchantId: null, after, limit, createdFrom: undefined, createdTo: undefined },
        filters: {
          ...(source === undefined ? {} : { 's.account': [source] }),
          ...(result === undefined ? {} : { 'c.result': [result] }),
        },
      }),
    views: [
      { title: 'all', query: {} },
      { title: 'state_differs', query: { result: 'differs' } },
      { title: 'state_rebased', query: { result: 'rebased' } },
      { title: 'state_failed', query: { result: 'failed' } },
    ],
  });
}

/** One comparison: what differed, and what came of it. */
export async function balanceCheckPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, params } = call;
  const check = (await findCheckForConsole(deps.db, params['id'] ?? '')) ?? notFound();
  const trace = await readSubjectTrace(deps.pool, check.id);
  const people = await readLogins(deps.db, peopleOf(trace));
  const title = `${view.t('balance_check')} ${check.id}`;
  return respond(
    call,
    { title, book: check.book },
    <>
      <Head
        view={{ ...view, book: check.book }}
        title={title}
        crumb={{ href: '/operator/balances/checks', name: view.t('balance_checks') }}
        state={<StateMark view={view} state={check.result ?? 'running'} pill />}
        more={<a href={`/operator/balances/${encodeURIComponent(check.sourceKey)}`}>{check.source}</a>}
        end={<Fresh view={view} at={view.now} />}
      />
      <section class="section" aria-labelledby="h-facts">
        <div class="section-head">
          <h2 id="h-facts">{view.t('what_is_known')}</h2>
        </div>
        <Facts
          view={view}
          facts={[
            { name: 'col_trigger', value: view.named('trigger', check.trigger) },
            { name: 'col_actions', value: actionsOf(view, check) },
            { name: 'col_changes_read', value: String(check.changesRead) },
            { name: 'fact_in_a_row', value: String(check.consecutiveDifferences) },
            { name: 'col_started', value: <Moment view={view} at={check.startedAt} /> },
            { name: 'col_finished', value: check.finishedAt && <Moment view={view} at={check.finishedAt} /> },
          ]}
        />
      </section>
      <Compared view={view} check={check} />
      <History view={view} trace={trace} people={people} />
    </>,
  );
}

function Compared({ view, check }: { view: View; check: BalanceCheckRecord }) {
  return (
    <section class="section" aria-labelledby="h-compared">
      <div class="section-head">
        <h2 id="h-compared">{view.t('col_difference')}</h2>
      </div>
      {check.currencies.length === 0 ? (
        <p class="muted">{view.t('nothing_differs')}</p>
      ) : (
        <table class="table table--stack">
          <thead>
            <tr>
              <th scope="col">{view.t('col_currency')}</th>
              {(['col_ours', 'col_theirs', 'col_difference'] as const).map((title) => (
                <th scope="col" class="num">
                  {view.t(title)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {check.currencies.map(({ currency, ours, theirs, difference }) => (
              <tr>
                <th scope="row" class="lead">
                  {currency}
                </th>
                <td class="num keep">
                  <Amount view={view} amount={ours} />
                </td>
                <td class="num keep">
                  <Amount view={view} amount={theirs} />
                </td>
                <td class="num value">
                  <Amount view={view} amount={difference} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const FILTERS: readonly ListFilter[] = [
  { name: 'source', label: 'col_source' },
  { name: 'result', label: 'col_result', choices: balanceCheckResult.options, prefix: 'state' },
];

const COLUMNS: readonly Column<BalanceCheckRecord>[] = [
  idColumn({ title: 'col_id', id: (row) => row.id, href: (row) => `/operator/balances/checks/${row.id}` }),
  {
    ...{ title: 'col_source', class: 'keep nowrap' },
    cell: (row) => <a href={`/operator/balances/${encodeURIComponent(row.sourceKey)}`}>{row.source}</a>,
    csv: { names: ['source'], cells: (row) => [row.source] },
  },
  {
    ...{ title: 'col_result', class: 'value' },
    cell: (row, view) => <CheckState view={view} check={row} />,
    csv: { names: ['result'], cells: (row) => [row.result] },
  },
  {
    ...{ title: 'col_trigger', class: 'word' },
    cell: (row, view) => view.named('trigger', row.trigger),
    csv: { names: ['trigger'], cells: (row) => [row.trigger] },
  },
  {
    ...{ title: 'col_actions', class: 'p2' },
    cell: (row, view) => actionsOf(view, row),
    csv: { names: ['actions'], cells: (row) => [row.actions.join(' ')] },
  },
  textColumn({
    ...{ title: 'col_changes_read', name: 'changes_read', isFigure: true, class: 'p3' },
    text: (row) => `${row.changesRead}`,
  }),
  timeColumn({ title: 'col_started', name: 'started_at', at: (row) => row.startedAt }),
];
