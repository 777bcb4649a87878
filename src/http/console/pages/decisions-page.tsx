import type { Child } from 'hono/jsx';
import { toIssuance } from '../../../contracts/card.js';
import { toDeposit } from '../../../contracts/deposit.js';
import {
  listDeadLettersForConsole,
  listDepositsForConsole,
  listIssuancesForConsole,
} from '../../../db/console-lists.js';
import type { SignedCall } from '../../pages/call.js';
import { Amount } from '../../pages/parts/amount.js';
import { Head } from '../../pages/parts/head.js';
import { Age, Fresh } from '../../pages/parts/moment.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import type { ConsoleDeps } from '../console-deps.js';

/** Of each kind so many of the oldest; the rest is in its list. */
const SHOWN = 25;

interface Waiting {
  readonly id: string;
  readonly href: string;
  readonly state: string;
  readonly reason: string | null;
  readonly amount: { readonly amount: string; readonly asset: string } | null;
  readonly since: Date;
}

/** All that waits for a person's decision, the longest wait of each kind first. */
export async function decisionsPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { view } = call;
  const { issuances, deposits, letters } = await readWaiting(call);
  return respond(
    call,
    { title: view.t('nav_unknown') },
    <>
      <Head view={view} title={view.t('nav_unknown')} end={<Fresh view={view} at={view.now} />} />
      <Section view={view} id="iss" title="nav_issuances" href="/operator/issuances?view=waiting" rows={issuances} />
      <Section view={view} id="dep" title="nav_deposits" href="/operator/deposits?view=decide" rows={deposits} />
      <Section view={view} id="dl" title="nav_dead_letters" href="/operator/deadletters?state=open" rows={letters} />
    </>,
  );
}

async function readWaiting({ deps, view }: SignedCall<ConsoleDeps>) {
  const asked = { book: view.book, sort: { name: 'created', descending: false }, after: null, limit: SHOWN };
  const [issuances, deposits, letters] = await Promise.all([
    listIssuancesForConsole(deps.db, { ...asked, filters: { view: 'waiting' } }),
    listDepositsForConsole(deps.db, { ...asked, filters: { view: 'decide' } }),
    listDeadLettersForConsole(deps.db, { ...asked, filters: { state: 'open' } }),
  ]);
  return {
    issuances: issuances.map((row): Waiting => {
      const { id, state, createdAt: since } = row;
      const reason = row.contradiction ?? row.reason;
      return { id, href: `/operator/issuances/${id}`, state, reason, amount: toIssuance(row).load, since };
    }),
    deposits: deposits.map((row): Waiting => {
      const { id, state, createdAt: since } = row;
      const reason = row.flag ?? row.reason;
      return { id, href: `/operator/deposits/${id}`, state, reason, amount: toDeposit(row).reported, since };
    }),
    letters: letters.map(({ id, reason, createdAt: since }): Waiting => {
      return { id, href: `/operator/deadletters/${id}`, state: 'open', reason, amount: null, since };
    }),
  };
}

function Section(of: { view: View; id: string; title: Word; href: string; rows: readonly Waiting[] }) {
  const { view, id, title, href, rows } = of;
  return (
    <section class="section" aria-labelledby={`h-${id}`}>
      <div class="section-head">
        <h2 id={`h-${id}`}>{view.t(title)}</h2>
        <a href={href}>{view.t('whole_list')}</a>
      </div>
      {rows.length === 0 ? (
        <p class="muted">{view.t('nothing_waits')}</p>
      ) : (
        <table class="table table--stack">
          <thead>
            <tr>
              <Th>{view.t('col_id')}</Th>
              <Th>{view.t('col_state')}</Th>
              <Th>{view.t('col_reason')}</Th>
              <Th isFigure>{view.t('col_amount')}</Th>
              <Th isFigure>{view.t('col_age')}</Th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((row) => (
              <tr>
                <th scope="row" class="lead">
                  <a class="id" href={row.href}>
                    {row.id}
                  </a>
                </th>
                <td class="word">
                  <StateMark view={view} state={row.state} />
                </td>
                <td class="keep">{row.reason}</td>
                <td class="num value amts">{row.amount === null ? null : <Amount view={view} {...row.amount} />}</td>
                <td class="num age nowrap">
                  <Age view={view} since={row.since} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Th({ isFigure = false, children }: { isFigure?: boolean; children?: Child }) {
  return (
    <th scope="col" class={isFigure ? 'num' : undefined}>
      {children}
    </th>
  );
}
