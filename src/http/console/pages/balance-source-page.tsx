import type { BalanceRecord } from '../../../contracts/balance.js';
import { balanceSyncWorkflowId } from '../../../contracts/ids.js';
import { listBalanceChecks, listBalances } from '../../../db/balance-listing.js';
import { askBalanceCheck } from '../../../db/balance-mirror.js';
import { type BalanceSourceRecord, type BalanceTroubles, readBalanceTroubles } from '../../../db/balance-sources.js';
import { readMerchantNames } from '../../../db/names.js';
import { type PendingDecision, pendingBalances } from '../../../db/pending-decisions.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { ActButton } from '../../pages/parts/act-button.js';
import { Amount } from '../../pages/parts/amount.js';
import { Ago, Moment, ShortMoment } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { redirect } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import { actionsOf, CheckState } from '../check-state.js';
import { type ConsoleDeps, DECIDERS } from '../console-deps.js';
import { Difference } from '../difference.js';
import { stateOfSource } from '../source-line.js';
import { type DecisionProblem, takeDecision } from '../take-decision.js';
import { type Subject, subjectPage } from './subject-page.js';

type Pending = PendingDecision<BalanceSourceRecord>;

const CURRENCIES_SHOWN = 100;
const CHECKS_SHOWN = 10;
const BAD_ITEMS_SHOWN = 20;

/** One mirrored account: its currencies, how it stands, what could not be read, and the decision to begin anew. */
export async function balanceSourcePage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, await pendingOf(call), null);
}

/** Takes the decision; whoever mirrors the account applies it with a fresh snapshot. */
export async function decideBalanceSource(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const pending = await pendingOf(call);
  const taken = await takeDecision(call, pending);
  if ('problem' in taken) return show(call, pending, taken.problem);
  await nudge(call, pending);
  return redirect(`${pathOf(pending.id)}?decision=${taken.id}`);
}

/** Has it compared before its time; nothing is decided by that. */
export async function checkBalancesNow(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const pending = await pendingOf(call);
  await askBalanceCheck(call.deps.db, { sourceId: pending.record.id, why: 'operator', withinMs: 0 });
  await nudge(call, pending);
  return redirect(`${pathOf(pending.id)}?asked=yes`);
}

async function pendingOf({ deps, params }: SignedCall<ConsoleDeps>): Promise<Pending> {
  return (await pendingBalances(deps.db, params['id'] ?? '')) ?? notFound();
}

function nudge({ deps }: SignedCall<ConsoleDeps>, { record: { book, provider, account } }: Pending): Promise<void> {
  return deps.nudge.balances({ book, provider, account });
}

function pathOf(key: string): string {
  return `/operator/balances/${encodeURIComponent(key)}`;
}

async function show(call: SignedCall<ConsoleDeps>, pending: Pending, problem: DecisionProblem | null) {
  const { deps, view, session } = call;
  const { record } = pending;
  const of = { book: record.book, merchantId: null, filters: { 's.account': [record.account] }, after: null };
  const [names, troubles, balances, checks] = await Promise.all([
    readMerchantNames(deps.db, record.merchantId === null ? [] : [record.merchantId]),
    readBalanceTroubles(deps.db, record.id, BAD_ITEMS_SHOWN),
    listBalances(deps.db, { ...of, by: 'currency', stale: undefined, limit: CURRENCIES_SHOWN }),
    listBalanceChecks(deps.db, { ...of, limit: CHECKS_SHOWN, createdFrom: undefined, createdTo: undefined }),
  ]);
  const mayAsk = DECIDERS.some((role) => session.roles.includes(role));
  const asked = call.query.get('asked') === 'yes';
  const subject: Subject = {
    ...{ pending, book: record.book, state: stateOfSource(record) },
    title: `${view.t('balance_source')} ${record.account}`,
    crumb: { href: '/operator/balances', word: 'nav_balances' },
    more:
      record.merchantId === null ? (
        view.t('nobodys')
      ) : (
        <a href={`/operator/merchants/${record.merchantId}`}>{names.get(record.merchantId) ?? record.merchantId}</a>
      ),
    facts: factsOf(view, record, troubles),
    evidence: (
      <>
        {asked ? (
          <Notice tone="wait" title={view.t('check_asked')}>
            <p>{view.t('check_asked_more')}</p>
          </Notice>
        ) : null}
        <Currencies view={view} balances={balances.slice(0, CURRENCIES_SHOWN)} source={record} />
        <BadItems view={view} troubles={troubles} />
        <section class="section" aria-labelledby="h-checks">
          <div class="section-head">
            <h2 id="h-checks">{view.t('balance_checks')}</h2>
            <a href={listHref('/checks', record)}>{view.t('whole_list')}</a>
            {mayAsk ? (
              <ActButton csrf={session.csrf} action={`${pathOf(record.key)}/check`} label={view.t('check_now')} />
            ) : null}
          </div>
          <Checks view={view} checks={checks.slice(0, CHECKS_SHOWN)} />
        </section>
      </>
    ),
    workflowId: balanceSyncWorkflowId(record),
    action: `${pathOf(record.key)}/decisions`,
  };
  return subjectPage(call, subject, problem);
}

function listHref(list: string, source: BalanceSourceRecord, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({ source: source.account, book: source.book, ...more });
  return `/operator/balances${list}?${query.toString()}`;
}

function factsOf(view: View, record: BalanceSourceRecord, { conflicts }: BalanceTroubles): Subject['facts'] {
  const isDue = record.nextCheckAt <= view.now;
  return [
    { name: 'col_provider', value: record.provider, more: record.account },
    {
      name: 'fact_base',
      value: record.baseCursor === null ? null : <span class="addr">{record.baseCursor}</span>,
      more: record.baseAt && <Moment view={view} at={record.baseAt} />,
    },
    { name: 'fact_position', value: record.position === null ? null : <span class="addr">{record.position}</span> },
    { name: 'fact_in_a_row', value: String(record.differences) },
    { name: 'fact_resets', value: String(record.resets) },
    {
      name: 'fact_stale',
      value: <a href={listHref('/addresses', record)}>{view.t('whole_list')}</a>,
      more: record.hasStale ? (
        <a href={listHref('/addresses', record, { stale: 'yes' })}>{view.t('source_stale')}</a>
      ) : null,
    },
    { name: 'fact_conflicts', value: String(conflicts) },
    { name: 'fact_stale_told', value: record.staleTold },
    { name: 'col_last_action', value: record.lastAction === null ? null : view.named('action', record.lastAction) },
    {
      name: 'fact_checked',
      value: record.checkedAt && <Moment view={view} at={record.checkedAt} />,
      more: record.checkedAt && <Ago view={view} at={record.checkedAt} />,
    },
    {
      name: 'fact_next_check',
      value: isDue ? view.t('due_now') : <Moment view={view} at={record.nextCheckAt} />,
      more: record.asked === null ? null : `${view.t('fact_asked')}: ${view.named('trigger', record.asked)}`,
    },
  ];
}

function Currencies(of: { view: View; balances: readonly BalanceRecord[]; source: BalanceSourceRecord }) {
  const { view, balances, source } = of;
  return (
    <section class="section" aria-labelledby="h-currencies">
      <div class="section-head">
        <h2 id="h-currencies">{view.t('nav_balances')}</h2>
        <a href={listHref('', source)}>{view.t('whole_list')}</a>
      </div>
      {balances.length === 0 ? (
        <p class="muted">{view.t('source_unloaded')}</p>
      ) : (
        <table class="table table--stack">
          <thead>
            <tr>
              <th scope="col">{view.t('col_currency')}</th>
              {COLUMNS.map(([title, , name]) => (
                <th scope="col" class={`num ${name}`}>
                  {view.t(title)}
                </th>
              ))}
              <th scope="col" class="num">
                {view.t('col_difference')}
              </th>
            </tr>
          </thead>
          <tbody>
            {balances.map((row) => (
              <tr>
                <th scope="row" class="lead">
                  {row.currency}
                </th>
                {COLUMNS.map(([, member, name]) => (
                  <td class={`num ${name}`}>
                    <Amount view={view} amount={row[member] ?? '0'} />
                  </td>
                ))}
                <td class="num word">
                  <Difference view={view} balance={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const COLUMNS = [
  ['col_our_sum', 'balance', 'value'],
  ['col_confirmed', 'confirmed', 'p2'],
  ['col_frozen', 'frozen', 'p3'],
  ['col_in_flight', 'held', 'p3'],
  ['col_available', 'available', 'p2'],
] as const;

function BadItems({ view, troubles }: { view: View; troubles: BalanceTroubles }) {
  const { badItems, badItemCount } = troubles;
  if (badItemCount === 0) return null;
  return (
    <section class="section" aria-labelledby="h-bad">
      <div class="section-head">
        <h2 id="h-bad">{view.t('bad_items')}</h2>
        {badItemCount > badItems.length ? (
          <span class="fresh">{view.t('bad_items_cut', { n: badItems.length, all: badItemCount })}</span>
        ) : null}
      </div>
      <p class="muted">{view.t('bad_items_more')}</p>
      <table class="table table--stack">
        <thead>
          <tr>
            <th scope="col">{view.t('col_id')}</th>
            <th scope="col">{view.t('col_reason')}</th>
            <th scope="col" class="num">
              {view.t('col_noticed')}, {view.zone}
            </th>
          </tr>
        </thead>
        <tbody>
          {badItems.map(({ itemId, reason, foundAt }) => (
            <tr>
              <th scope="row" class="lead">
                {itemId === null ? <span class="faint">–</span> : <span class="id">{itemId}</span>}
              </th>
              <td class="keep">{reason}</td>
              <td class="num age nowrap">
                <ShortMoment view={view} at={foundAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Checks({ view, checks }: { view: View; checks: Awaited<ReturnType<typeof listBalanceChecks>> }) {
  if (checks.length === 0) return <p class="muted">{view.t('no_checks')}</p>;
  return (
    <table class="table table--stack">
      <thead>
        <tr>
          <th scope="col">{view.t('col_id')}</th>
          <th scope="col">{view.t('col_result')}</th>
          <th scope="col">{view.t('col_trigger')}</th>
          <th scope="col" class="p2">
            {view.t('col_actions')}
          </th>
          <th scope="col" class="num">
            {view.t('col_started')}, {view.zone}
          </th>
        </tr>
      </thead>
      <tbody>
        {checks.map((check) => (
          <tr>
            <th scope="row" class="lead">
              <a class="id" href={`/operator/balances/checks/${check.id}`}>
                {check.id}
              </a>
            </th>
            <td class="value">
              <CheckState view={view} check={check} />
            </td>
            <td class="word">{view.named('trigger', check.trigger)}</td>
            <td class="p2">{actionsOf(view, check)}</td>
            <td class="num age nowrap">
              <ShortMoment view={view} at={check.startedAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
