import type { Command } from '../command.js';
import { EXIT } from '../failure.js';

export const doctorCommand: Command = {
  path: ['doctor'],
  summary: 'look at everything that has to be there; names each missing thing and its fix',
  examples: ['doctor', 'doctor --profile production --json'],
  async run(context) {
    const { out } = context;
    // Loaded when needed: it reaches the server's code, and no other command waits for that.
    const { examine } = await import('../doctor/examine.js');
    const findings = await examine(context);
    const bad = findings.filter(({ state }) => state === 'missing');
    const document = { object: 'doctor', ok: bad.length === 0, checks: findings.map((each) => ({ ...each })) };
    out.result(document, () => {
      const mark = { ok: out.mark.good, warning: out.mark.warn, missing: out.mark.bad };
      out.table(
        [{ title: 'CHECK' }, { title: 'STATE' }, { title: 'DETAIL' }],
        findings.map(({ check, state, detail }) => [check, { text: state, mark: mark[state] }, detail]),
      );
      out.line();
      for (const { check, fix } of findings) if (fix !== null) out.line(`${out.mark.bold(check)}: ${fix}`);
      out.line(bad.length === 0 ? out.mark.good('Nothing is missing.') : out.mark.bad(`${bad.length} missing.`));
    });
    return bad.length === 0 ? EXIT.done : EXIT.found;
  },
};
