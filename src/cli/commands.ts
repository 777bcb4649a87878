import type { Command } from './command.js';
import { listAlertsCommand } from './commands/alerts.js';
import { exportAuditCommand, verifyAuditCommand } from './commands/audit.js';
import { rebaseBalancesCommand } from './commands/balance-decisions.js';
import { checkBalancesCommand, listBalancesCommand, showBalanceHistoryCommand } from './commands/balances.js';
import { listBreakersCommand } from './commands/breakers.js';
import { createCompletionCommand } from './commands/completion.js';
import {
  abandonDeadLetterCommand,
  listDeadLettersCommand,
  replayDeadLetterCommand,
  showDeadLetterCommand,
} from './commands/dead-letters.js';
import { decideDepositCommand } from './commands/deposit-decisions.js';
import { listDepositsCommand, showDepositCommand } from './commands/deposits.js';
import { doctorCommand } from './commands/doctor.js';
import { rotateEncryptionCommand } from './commands/encryption-keys.js';
import { decideIssuanceCommand } from './commands/issuance-decisions.js';
import { listIssuancesCommand, showIssuanceCommand, unknownIssuancesCommand } from './commands/issuances.js';
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from './commands/keys.js';
import { verifyLedgerCommand } from './commands/ledger.js';
import { importLedgerCommand } from './commands/ledger-import.js';
import { createMerchantCommand, listMerchantsCommand, showMerchantCommand } from './commands/merchants.js';
import { listProductsCommand, setFeeCommand } from './commands/products.js';
import { listSchedulesCommand, runScheduleCommand } from './commands/schedules.js';
import { traceCommand } from './commands/trace.js';
import { listUsersCommand, userLoginLinkCommand } from './commands/users.js';
import { listWithdrawalsCommand, showWithdrawalCommand } from './commands/withdrawals.js';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  doctorCommand,
  traceCommand,
  createMerchantCommand,
  listMerchantsCommand,
  showMerchantCommand,
  createKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  rotateEncryptionCommand,
  listDepositsCommand,
  showDepositCommand,
  decideDepositCommand,
  listIssuancesCommand,
  unknownIssuancesCommand,
  showIssuanceCommand,
  decideIssuanceCommand,
  listWithdrawalsCommand,
  showWithdrawalCommand,
  listBalancesCommand,
  checkBalancesCommand,
  showBalanceHistoryCommand,
  rebaseBalancesCommand,
  listProductsCommand,
  setFeeCommand,
  listDeadLettersCommand,
  showDeadLetterCommand,
  replayDeadLetterCommand,
  abandonDeadLetterCommand,
  listAlertsCommand,
  listBreakersCommand,
  verifyLedgerCommand,
  importLedgerCommand,
  verifyAuditCommand,
  exportAuditCommand,
  listSchedulesCommand,
  runScheduleCommand,
  listUsersCommand,
  userLoginLinkCommand,
  createCompletionCommand(() => COMMANDS),
];
