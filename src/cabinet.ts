import { nudgeWithdrawal } from './client/withdrawals.js';
import { createCabinetApp } from './http/cabinet/app.js';
import { openPagesProcess } from './pages-process.js';

const { config, temporal, pages, untilTheSweep, serve } = openPagesProcess(
  'cabinet',
  ({ SVERKA_CABINET_URL }) => SVERKA_CABINET_URL,
);
const app = createCabinetApp({
  ...pages,
  nudge: (input) => untilTheSweep(nudgeWithdrawal(temporal, input)),
});
await serve(app.fetch, config.SVERKA_CABINET_PORT);
