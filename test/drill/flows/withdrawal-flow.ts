import { askForWithdrawals, decideOn } from '../../support/asked-withdrawals.js';
import type { Flow } from '../flow.js';
import { payAgain, payoutsAtCustodian, payoutsOfOurs, startWithdrawals, untilPaid } from '../withdrawal-truth.js';

/** A withdrawal: approved by a person, submitted, paid once by the custodian, proven by its transaction. */
export const withdrawalFlow: Flow = {
  name: 'withdrawal',
  activities: ['databaseDecideWithdrawal', 'databaseSubmitWithdrawal', 'providerCreatePayout', 'providerReadPayout'],
  atOnce: 18,
  settings: { SVERKA_UNKNOWN_ALERT_LOOKS: '4', SVERKA_FOUND_LATE_AGE: '1ms' },
  async arrange(world, count) {
    const asked = await askForWithdrawals(world, count);
    for (const each of asked) {
      await decideOn(world, each, { choice: 'approve', userId: each.approver, argument: 'custody' });
    }
    return {
      start: () => startWithdrawals(world, asked),
      finish: () => untilPaid(world, asked),
      again: () => payAgain(world, asked),
    };
  },
  truth: payoutsAtCustodian,
  ours: payoutsOfOurs,
};
