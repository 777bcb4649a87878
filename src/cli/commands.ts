import type { Command } from './command.js';
import { createCompletionCommand } from './commands/completion.js';
import { listDepositsCommand, showDepositCommand } from './commands/deposits.js';
import { doctorCommand } from './commands/doctor.js';
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from './commands/keys.js';
import { verifyLedgerCommand } from './commands/ledger.js';
import { createMerchantCommand, listMerchantsCommand, showMerchantCommand } from './commands/merchants.js';
import { listSchedulesCommand, runScheduleCommand } from './commands/schedules.js';
import { traceCommand } from './commands/trace.js';

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
  listDepositsCommand,
  showDepositCommand,
  verifyLedgerCommand,
  listSchedulesCommand,
  runScheduleCommand,
  createCompletionCommand(() => COMMANDS),
];
