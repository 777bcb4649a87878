import { isId } from '../../../contracts/ids.js';
import { movementKindSchema } from '../../../contracts/movement.js';
import { assetCodeSchema, toAmount } from '../../../contracts/values.js';
import { findMovement } from '../../../db/movements.js';
import { readStatement, type StatementLine } from '../../../db/statement.js';
import { readWallet } from '../../../db/wallets.js';
import type { SignedCall } from '../../pages/call.js';
import { timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import { PageError } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';

type Line = StatementLine & { readonly asset: string };

/** What moved the merchant's wallet of one asset, with the balance after each movement. */
export async function statementPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, query, view } = call;
  const scope = scopeOf(call);
  const { balances } = await readWallet(deps.db, { ...scope, customerId: null });
  const assets = balances.map(({ asset }) => asset);
  const asked = query.get('asset') || assets[0] || null;
  if (asked !== null && !assetCodeSchema.safeParse(asked).success) throw new PageError(422);
  const named = new URLSearchParams(query);
  if (asked !== null) named.set('asset', asked);
  return answerListPage<CabinetDeps, Line>(
    { ...call, query: named },
    {
      ...{ path: '/cabinet/statement', title: 'nav_statement', name: `statement-${asked ?? 'none'}` },
      defaultSort: '-time',
      more: asked === null ? view.t('wallet_empty') : view.t('statement_of', { asset: asked }),
      filters: filtersOf(assets),
      columns: COLUMNS,
      id: (line) => String(line.seq),
      find: async ({ filters, sort, after, limit }) => {
        if (asked === null) return [];
        const narrowed = { ...filters, ...(await subjectOf(call, filters['q'])) };
        const of = { asset: asked, filters: narrowed, after, limit, descending: sort.descending };
        return (await readStatement(deps.db, scope, of)).map((line) => ({ ...line, asset: asked }));
      },
    },
  );
}

/** An id of a movement is looked for by what it is about. */
async function subjectOf(call: SignedCall<CabinetDeps>, text: string | undefined): Promise<{ q?: string }> {
  if (text === undefined || !isId('movement', text)) return {};
  const found = await findMovement(call.deps.db, scopeOf(call), text);
  return { q: found?.subjectId ?? text };
}

function filtersOf(assets: readonly string[]): ListFilter[] {
  return [
    { name: 'q', label: 'filter_subject' },
    { name: 'asset', label: 'col_asset', choices: assets, isRequired: true },
    { name: 'kind', label: 'col_kind', choices: movementKindSchema.options, prefix: 'kind' },
    { name: 'from', label: 'filter_from', isDay: true },
    { name: 'to', label: 'filter_to', isDay: true },
  ];
}

const COLUMNS: readonly Column<Line>[] = [
  timeColumn({
    title: 'col_time',
    name: 'recorded_at',
    at: (line) => line.recordedAt,
    sort: 'time',
    class: 'word nowrap',
    isFigure: false,
  }),
  {
    ...{ title: 'col_movement', class: 'lead' },
    cell: (line, view) => (
      <>
        <a href={`/cabinet/movements/${line.movementId}`}>{view.named('kind', line.kind)}</a>
        <span class="sub">
          <span class="id">{line.subjectId}</span>
        </span>
      </>
    ),
    csv: {
      names: ['movement_id', 'kind', 'subject_id'],
      cells: (line) => [line.movementId, line.kind, line.subjectId],
    },
  },
  {
    ...{ title: 'col_amount', class: 'value', isFigure: true },
    cell: (line, view) => <Amount view={view} {...toAmount(line.amount, line.asset)} asset={null} signed />,
    csv: {
      names: ['amount', 'asset'],
      cells: (line) => [{ figure: toAmount(line.amount, line.asset).amount }, line.asset],
    },
  },
  {
    ...{ title: 'col_balance', class: 'age', isFigure: true },
    cell: (line, view) => <Amount view={view} {...toAmount(line.balance, line.asset)} asset={null} />,
    csv: { names: ['balance'], cells: (line) => [{ figure: toAmount(line.balance, line.asset).amount }] },
  },
];
