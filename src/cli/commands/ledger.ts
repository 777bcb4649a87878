import { verifyLedger } from '../../db/verify-ledger.js';
import type { Command } from '../command.js';
import { EXIT } from '../failure.js';

export const verifyLedgerCommand: Command = {
  path: ['ledger', 'verify'],
  summary: 'rebuild what the journal says from its entries; exit code 1 on any difference',
  options: [
    { flags: '--full', description: "also holds the deposits' states and the audit's chain against the books" },
  ],
  examples: ['ledger verify', 'ledger verify --full --json'],
  async run(context, input) {
    const { out } = context;
    const full = input.options['full'] === true;
    const { checked, findings } = await verifyLedger(context.pool(), 'all', { subjects: full });
    const whole = findings.length === 0;
    const document = {
      object: 'ledger_verification',
      scope: full ? 'full' : 'books',
      ok: whole,
      checked,
      findings: findings.map(({ kind, accountId, movementId, detail }) => ({
        kind,
        account_id: accountId,
        movement_id: movementId,
        detail,
      })),
    };
    out.result(document, () => {
      const { entries, movements, accounts } = checked;
      const counts = `${entries} entries, ${movements} movements, ${accounts} accounts`;
      if (whole) return out.line(`${out.mark.good('The books are whole:')} ${counts} checked.`);
      out.table(
        [{ title: 'FINDING' }, { title: 'ACCOUNT', align: 'right' }, { title: 'MOVEMENT' }, { title: 'WHAT' }],
        findings.map(({ kind, accountId, movementId, detail }) => [
          { text: kind, mark: out.mark.bad },
          accountId ?? '–',
          movementId ?? '–',
          detail,
        ]),
      );
      out.line(
        `\n${out.mark.bad(`${findings.length} findings`)} in ${counts}. What each means: docs/concepts/journal.md.`,
      );
      out.line('A movement with its surroundings: sverka trace <mov_…>');
    });
    return whole ? EXIT.done : EXIT.found;
  },
};
