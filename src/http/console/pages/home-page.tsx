import type { Child } from 'hono/jsx';
import { type CheckRun, type Home, type OpenItems, type ProviderHealth, readHome } from '../../../db/home.js';
import type { SignedCall } from '../../pages/call.js';
import { formatTime } from '../../pages/format.js';
import { Sums } from '../../pages/parts/amount.js';
import { type Ask, Asks } from '../../pages/parts/asks.js';
import { Head } from '../../pages/parts/head.js';
import { type Line, Lines } from '../../pages/parts/lines.js';
import { Age, Ago, Fresh } from '../../pages/parts/moment.js';
import { respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import type { ConsoleDeps } from '../console-deps.js';
import { sourceLine } from '../source-line.js';

/** Where each kind of open thing is listed. */
const LISTS: Readonly<Record<string, string>> = {
  issuance: '/operator/issuances?view=waiting',
  withdrawal: '/operator/withdrawals?view=waiting',
  deposit: '/operator/deposits?view=decide',
  dead_letter: '/operator/deadletters?state=open',
};

/** The home page: what needs a person, what is broken, what is ageing, who is unwell; each a figure and a link. */
export async function homePage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  const home = await readHome(deps.db, view.book);
  return respond(
    call,
    { title: view.t('home') },
    <>
      <Head
        view={view}
        title={view.t('home')}
        end={
          <>
            <Fresh view={view} at={view.now} />
            <a class="btn" href="/operator">
              {view.t('read_again')}
            </a>
          </>
        }
      />
      <Asks view={view} label={view.t('four_questions')} asks={asksOf(view, home)} />
      <div class="cols">
        <div>
          <OpenTable
            {...{ view, id: 'decide', title: 'ask_decisions', none: 'nothing_waits' }}
            items={home.decisions}
          />
          <OpenTable {...{ view, id: 'broken', title: 'ask_broken', none: 'nothing_broken' }} items={home.alerts} />
          <OpenTable
            {...{ view, id: 'ageing', title: 'ask_ageing', none: 'nothing_ages' }}
            items={home.ageing}
            budgetMs={deps.budgetMs}
          />
        </div>
        <div class="rail">
          <Rail id="prov" title={view.t('providers')} note={view.t('last_answer')}>
            {home.providers.length === 0 ? (
              <p class="muted">{view.t('no_providers')}</p>
            ) : (
              <Lines lines={home.providers.map((provider) => providerLine(view, provider))} />
            )}
          </Rail>
          <Rail id="checks" title={view.t('checks')} note={view.t('last_run')}>
            <Lines lines={home.checks.map((check) => checkLine(view, check))} />
          </Rail>
          {home.mirrors.length === 0 ? null : (
            <Rail id="mirrors" title={view.t('nav_balances')} note={view.t('last_compared')}>
              <Lines lines={home.mirrors.map((source) => sourceLine(view, source))} />
            </Rail>
          )}
        </div>
      </div>
    </>,
  );
}

function asksOf(view: View, { decisions, alerts, ageing, providers }: Home): Ask[] {
  const unwell = providers.filter(({ breaker }) => breaker !== 'closed');
  const ask = (items: readonly OpenItems[]) => {
    const count = items.reduce((sum, item) => sum + item.count, 0);
    const times = items.map(({ oldest }) => oldest.getTime());
    return {
      count,
      of: view.t('items', { n: count }),
      oldest: times.length === 0 ? null : new Date(Math.min(...times)),
      sums: items.flatMap(({ sums }) => sums),
    };
  };
  return [
    { ...ask(decisions), href: '/operator/decisions', state: 'ask_decisions', tone: 'person' },
    { ...ask(alerts), href: '/operator/alerts?state=open', state: 'ask_broken', tone: 'fail' },
    { ...ask(ageing), href: '/operator#h-ageing', state: 'ask_ageing', tone: 'wait' },
    {
      ...{ href: '/operator#h-prov', state: 'ask_unwell', tone: 'fail', oldest: null, sums: [] },
      count: unwell.length,
      of: view.t('of_providers', { n: providers.length }),
      more: unwell.map(({ provider }) => provider).join(', '),
    },
  ];
}

function OpenTable(of: {
  view: View;
  id: string;
  title: Word;
  none: Word;
  items: readonly OpenItems[];
  budgetMs?: number;
}) {
  const { view, id, items, budgetMs } = of;
  return (
    <section class="section" aria-labelledby={`h-${id}`}>
      <div class="section-head">
        <h2 id={`h-${id}`}>{view.t(of.title)}</h2>
      </div>
      {items.length === 0 ? (
        <p class="muted">{view.t(of.none)}</p>
      ) : (
        <table class="table table--stack table--fixed">
          <thead>
            <tr>
              <th scope="col">{view.t('col_what')}</th>
              <th scope="col" class="num w-1">
                {view.t('col_count')}
              </th>
              <th scope="col" class="num w-4">
                {view.t('col_sum')}
              </th>
              <th scope="col" class="num w-5">
                {view.t('col_oldest')}
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr>
                <th scope="row" class="lead">
                  {listLink(view, id, item.what)}
                </th>
                <td class="num value">{item.count}</td>
                <td class="num sumcell">
                  <Sums view={view} sums={item.sums} />
                </td>
                <td class="num age">
                  <Age view={view} since={item.oldest} {...(budgetMs === undefined ? {} : { budgetMs })} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function listLink(view: View, table: string, what: string): Child {
  if (table === 'broken') {
    return <a href={`/operator/alerts?${new URLSearchParams({ state: 'open', kind: what }).toString()}`}>{what}</a>;
  }
  const href = table === 'ageing' ? LISTS[what]?.split('?')[0] : LISTS[what];
  const name = view.named('what', what);
  return href === undefined ? name : <a href={href}>{name}</a>;
}

function Rail({ id, title, note, children }: { id: string; title: string; note: string; children?: Child }) {
  return (
    <section aria-labelledby={`h-${id}`}>
      <div class="section-head">
        <h2 id={`h-${id}`}>{title}</h2>
        <span class="fresh">{note}</span>
      </div>
      {children}
    </section>
  );
}

function providerLine(view: View, { provider, breaker, openUntil, lastAnswerAt }: ProviderHealth): Line {
  const well = breaker === 'closed';
  const probe = openUntil === null || well ? '' : ` · ${view.t('next_probe', { at: formatTime(view, openUntil) })}`;
  return {
    icon: well ? 'ok' : 'failed',
    tone: well ? 'ok' : 'fail',
    name: provider,
    end: <Ago view={view} at={lastAnswerAt} />,
    more: (
      <>
        <span class={`word ${well ? 'ok' : 'fail'}`}>{view.t(`breaker_${breaker}`)}</span>
        {probe}
      </>
    ),
  };
}

function checkLine(view: View, { name, finishedAt, findings }: CheckRun): Line {
  const well = findings === 0;
  return {
    icon: well ? 'ok' : findings === null ? 'wait' : 'person',
    tone: well ? 'ok' : findings === null ? 'wait' : 'person',
    name,
    end: <Ago view={view} at={finishedAt} />,
    more: findings === null ? view.t('never_ran') : view.t('differences', { n: findings }),
  };
}
