import type { BalanceCheckRecord } from '../../contracts/balance.js';
import { StateMark } from '../pages/parts/state-mark.js';
import type { View } from '../pages/view.js';

/** How a comparison ended, or that it is under way. */
export function CheckState({ view, check }: { view: View; check: BalanceCheckRecord }) {
  return <StateMark view={view} state={check.result ?? 'running'} />;
}

/** What was done, in the order in which it was done. */
export function actionsOf(view: View, check: BalanceCheckRecord): string {
  return check.actions.map((action) => view.named('action', action)).join(' → ');
}
