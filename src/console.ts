import { nudgeBalances } from './client/balances.js';
import { nudgeDeposit } from './client/deposits.js';
import { nudgeIssuance } from './client/issuances.js';
import { nudgeWithdrawal } from './client/withdrawals.js';
import { createConsoleApp } from './http/console/app.js';
import { openPagesProcess } from './pages-process.js';

const { config, temporal, pages, untilTheSweep, serve } = openPagesProcess(
  'console',
  ({ SVERKA_CONSOLE_URL }) => SVERKA_CONSOLE_URL,
);
const app = createConsoleApp({
  ...pages,
  cabinetUrl: config.SVERKA_CABINET_URL,
  temporalUi: config.SVERKA_TEMPORAL_UI_URL
    ? { url: config.SVERKA_TEMPORAL_UI_URL, namespace: config.TEMPORAL_NAMESPACE }
    : null,
  budgetMs: config.SVERKA_STUCK_AGE,
  approvalPasskey: config.SVERKA_APPROVAL_PASSKEY === 'on',
  nudge: {
    deposit: (input) => untilTheSweep(nudgeDeposit(temporal, input, { start: true })),
    issuance: (of) => untilTheSweep(nudgeIssuance(temporal, of)),
    withdrawal: (input) => untilTheSweep(nudgeWithdrawal(temporal, input)),
    balances: (input) => untilTheSweep(nudgeBalances(temporal, input)),
  },
});
await serve(app.fetch, config.SVERKA_CONSOLE_PORT);
