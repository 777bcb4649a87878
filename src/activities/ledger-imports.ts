import { ImportRefused, lockRequestedImport, postLedgerImport, refuseLedgerImport } from '../db/ledger-imports.js';
import { inTransaction } from '../db/transaction.js';
import type { ActivityDeps } from './deps.js';

/** Posts the oldest file of opening balances that waits, whole or not at all; one a turn. */
export async function applyLedgerImport(deps: ActivityDeps): Promise<void> {
  try {
    await inTransaction(deps.pool, async (tx) => {
      const file = await lockRequestedImport(tx);
      if (file) await postLedgerImport(tx, file);
    });
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    await inTransaction(deps.pool, (tx) => refuseLedgerImport(tx, error.fileHash, error.problems));
  }
}
