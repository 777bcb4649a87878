import type { BalanceSourceRecord } from '../../db/balance-sources.js';
import type { Line } from '../pages/parts/lines.js';
import { Ago } from '../pages/parts/moment.js';
import type { View } from '../pages/view.js';

/** How a mirrored account stands, in one word. */
export function stateOfSource(source: BalanceSourceRecord): 'loading' | 'failed' | 'differs' | 'equal' {
  if (source.baseCursor === null) return 'loading';
  if (source.lastAction === 'failed') return 'failed';
  return source.differing.length > 0 ? 'differs' : 'equal';
}

/** A mirrored account as a row of a few: its sign, when it was last compared, and what differs. */
export function sourceLine(view: View, source: BalanceSourceRecord): Line {
  const state = stateOfSource(source);
  const figures = view.t('source_figures', { n: source.currencies, differing: source.differing.length });
  return {
    ...LINES[state],
    name: <a href={`/operator/balances/${encodeURIComponent(source.key)}`}>{source.account}</a>,
    end: <Ago view={view} at={source.checkedAt} />,
    more: (
      <>
        <span class={`word ${LINES[state].tone}`}>{view.named('state', state)}</span>
        {` · ${source.baseCursor === null ? view.t('source_unloaded') : figures}`}
        {source.hasStale ? ` · ${view.t('source_stale')}` : ''}
      </>
    ),
  };
}

const LINES = {
  equal: { icon: 'ok', tone: 'ok' },
  differs: { icon: 'wait', tone: 'wait' },
  loading: { icon: 'wait', tone: 'wait' },
  failed: { icon: 'failed', tone: 'fail' },
} as const;
