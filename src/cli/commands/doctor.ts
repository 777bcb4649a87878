import { dirname } from 'node:path';
import type { Command, Context } from '../command.js';
import { checkAlerts } from '../doctor/check-alerts.js';
import { checkCards } from '../doctor/check-cards.js';
import { checkGateway, checkReadiness, checkSimulators } from '../doctor/check-http.js';
import { checkKeyring } from '../doctor/check-keyring.js';
import { checkNode, checkOpsNamed, checkProcesses, checkProfileFile, checkSecrets } from '../doctor/check-machine.js';
import { checkPostgres } from '../doctor/check-postgres.js';
import { checkTemporal } from '../doctor/check-temporal.js';
import { type Finding, missing } from '../doctor/finding.js';
import { CliFailure, EXIT } from '../failure.js';

export const doctorCommand: Command = {
  path: ['doctor'],
  summary: 'look at everything that has to be there; names each missing thing and its fix',
  examples: ['doctor', 'doctor --profile production --json'],
  async run(context) {
    const { out } = context;
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

async function examine(context: Context): Promise<Finding[]> {
  const node = checkNode(process.versions.node);
  try {
    context.profile();
  } catch (error) {
    // Nothing running here is what a doctor is asked about; a wrong name or file is wrong usage.
    if (!(error instanceof CliFailure) || error.exit !== EXIT.unavailable) throw error;
    return [node, missing('run.json', 'nothing runs here', error.message)];
  }
  const profile = context.profile();
  const { run, opsUrls, gatewayUrl } = profile;
  const keys = () => checkKeyring({ env: context.env, state: dirname(profile.file) });
  const machine = run === null ? [] : [...checkProcesses(run), ...checkSecrets(run), ...checkOpsNamed(run), ...keys()];
  const asked = await Promise.all([
    checkPostgres(context.db()),
    checkAlerts(context.db()),
    checkTemporal(context),
    checkReadiness(opsUrls),
    checkGateway(gatewayUrl),
    checkSimulators(run?.simulators ?? {}),
    checkCards(context.db(), run),
  ]);
  return [node, checkProfileFile(profile), ...machine, ...asked.flat()];
}
