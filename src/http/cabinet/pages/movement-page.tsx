import { toMovement } from '../../../contracts/movement.js';
import { findMovement } from '../../../db/movements.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Moment } from '../../pages/parts/moment.js';
import { respond } from '../../pages/respond.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';

/** One movement of the merchant or of his customers, with its entries. */
export async function movementPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, view, params } = call;
  const found = (await findMovement(deps.db, scopeOf(call), params['id'] ?? '')) ?? notFound();
  const movement = toMovement(found);
  return respond(
    call,
    { title: view.named('kind', movement.kind) },
    <>
      <Head
        view={view}
        title={view.named('kind', movement.kind)}
        crumb={{ href: '/cabinet/statement', name: view.t('nav_statement') }}
        more={<span class="id">{movement.id}</span>}
      />
      <Facts
        view={view}
        facts={[
          { name: 'col_time', value: <Moment view={view} at={movement.recorded_at} /> },
          { name: 'col_about', value: subjectLink(movement.subject) },
          { name: 'col_reference', value: movement.reference },
        ]}
      />
      <section class="section" aria-labelledby="h-entries">
        <div class="section-head">
          <h2 id="h-entries">{view.t('postings')}</h2>
        </div>
        <table class="table table--stack">
          <thead>
            <tr>
              <th scope="col">{view.t('col_account')}</th>
              <th scope="col">{view.t('col_owner')}</th>
              <th scope="col" class="num">
                {view.t('col_amount')}
              </th>
            </tr>
          </thead>
          <tbody>
            {movement.entries.map(({ account, amount }) => (
              <tr>
                <th scope="row" class="lead">
                  {account.kind} {account.ref === null ? null : <span class="id">{account.ref}</span>}
                </th>
                <td class="keep">{account.owner.ref ?? account.owner.id}</td>
                <td class="num value">
                  <Amount view={view} {...amount} signed />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>,
  );
}

function subjectLink({ type, id }: { type: string; id: string }) {
  const pages: Readonly<Record<string, string>> = { deposit: 'deposits', card: 'cards' };
  const page = pages[type];
  return page === undefined ? `${type} ${id}` : <a href={`/cabinet/${page}/${id}`}>{id}</a>;
}
