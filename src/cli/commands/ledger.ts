import { checkLedgerSinceMarks } from '../../db/check-ledger.js';
import { verifyLedger } from '../../db/verify-ledger.js';
import type { Command } from '../command.js';
import { EXIT } from '../failure.js';

export const verifyLedgerCommand: Command = {
  path: ['ledger', 'verify'],
  summary: 'rebuild what the journal says from its entries; exit code 1 on any difference',
  options: [{ flags: '--full', description: 'from the first entry, not from where the last hourly check ended' }],
  examples: ['ledger verify', 'ledger verify --full --json'],
  async run(context, input) {
    const { out } = context;
    const full = input.options['full'] === true;
    const { checked, findings } = full
      ? await verifyLedger(context.pool(), 'all')
      : await checkLedgerSinceMarks(context.pool());
    const whole = findings.length === 0;
    const document = {
      object: 'ledger_verification',
      scope: full ? 'all' : 'changed',
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
