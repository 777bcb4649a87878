import { type CardRecord, cardSchema, toCard } from '../../../contracts/card.js';
import { findCard, listCards } from '../../../db/cards.js';
import type { SignedCall } from '../../pages/call.js';
import { amountColumn, idColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import { notFound } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Ago, Moment } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { respond } from '../../pages/respond.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';
import { wantedOf } from '../wanted-of.js';

const FILTER_COLUMNS = { state: 'c.state', last4: 'c.last4', cardholder: 'c.cardholder_id' };

/** The merchant's cards: never more of one than the API shows. */
export async function cardsPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  return answerListPage(call, {
    ...{ path: '/cabinet/cards', title: 'nav_cards', name: 'cards', defaultSort: '-created' },
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listCards(call.deps.db, scopeOf(call), wantedOf(asked, FILTER_COLUMNS)),
  });
}

export async function cardPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, view, params } = call;
  const record = (await findCard(deps.db, { ...scopeOf(call), id: params['id'] ?? '' })) ?? notFound();
  const card = toCard(record);
  const { issuance } = card;
  return respond(
    call,
    { title: card.id },
    <>
      <Head
        view={view}
        title={card.masked_number ?? card.id}
        crumb={{ href: '/cabinet/cards', name: view.t('nav_cards') }}
        state={<StateMark view={view} state={card.state} pill />}
        more={<Amount view={view} {...card.loaded} big />}
      />
      {issuance.state === 'unknown' ? (
        <Notice tone="unk" title={view.t('unknown_title')}>
          <p>{view.t('card_unknown_text')}</p>
        </Notice>
      ) : null}
      <Facts
        view={view}
        facts={[
          { name: 'col_id', value: <span class="id">{card.id}</span> },
          { name: 'col_product', value: card.product },
          { name: 'col_cardholder', value: <span class="id">{card.cardholder_id}</span> },
          { name: 'col_expires', value: card.expires },
          { name: 'col_reason', value: card.reason },
          { name: 'issuance', value: <StateMark view={view} state={issuance.state} />, more: issuance.reason },
          {
            name: 'fact_held',
            value: <Amount view={view} {...issuance.load} />,
            more: <Amount view={view} {...issuance.fee} />,
          },
          { name: 'col_created', value: <Moment view={view} at={card.created_at} /> },
          {
            name: 'col_last_read',
            value: <Moment view={view} at={card.provider_read_at} />,
            more: <Ago view={view} at={card.provider_read_at} />,
          },
        ]}
      />
    </>,
  );
}

const FILTERS: readonly ListFilter[] = [
  { name: 'state', label: 'col_state', choices: cardSchema.shape.state.options, prefix: 'state' },
  { name: 'last4', label: 'col_last4' },
  { name: 'cardholder', label: 'col_cardholder' },
  { name: 'from', label: 'filter_from', isDay: true },
  { name: 'to', label: 'filter_to', isDay: true },
];

const COLUMNS: readonly Column<CardRecord>[] = [
  idColumn({ title: 'col_card', id: (row) => row.id, href: (row) => `/cabinet/cards/${row.id}` }),
  textColumn({ title: 'col_last4', name: 'last4', text: (row) => row.last4, class: 'keep' }),
  textColumn({ title: 'col_product', name: 'product', text: (row) => row.product, class: 'p2' }),
  amountColumn({ title: 'col_loaded', name: 'loaded', amount: (row) => toCard(row).loaded }),
  stateColumn({ state: (row) => row.state }),
  timeColumn({ title: 'col_created', name: 'created_at', at: (row) => row.createdAt }),
];
