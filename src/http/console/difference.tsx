import type { BalanceRecord } from '../../contracts/balance.js';
import { Amount } from '../pages/parts/amount.js';
import { ShortMoment } from '../pages/parts/moment.js';
import type { View } from '../pages/view.js';

/** Our sum less theirs, and since when, of a mirrored currency. */
export function Difference({ view, balance }: { view: View; balance: BalanceRecord }) {
  const { difference, differsSince } = balance;
  return (
    <>
      <Amount view={view} amount={difference ?? '0'} />
      {differsSince === null ? null : (
        <span class="sub">
          {view.t('since')} <ShortMoment view={view} at={differsSince} />
        </span>
      )}
    </>
  );
}
