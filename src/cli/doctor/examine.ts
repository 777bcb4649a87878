import { dirname } from 'node:path';
import type { Context } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { checkAlerts } from './check-alerts.js';
import { checkCards } from './check-cards.js';
import { checkGateway, checkReadiness, checkSimulators } from './check-http.js';
import { checkKeyring } from './check-keyring.js';
import { checkNode, checkOpsNamed, checkProcesses, checkProfileFile, checkSecrets } from './check-machine.js';
import { checkPostgres } from './check-postgres.js';
import { checkTemporal } from './check-temporal.js';
import { type Finding, missing } from './finding.js';

/** Looks at everything that has to be there, in the order in which one would mend it. */
export async function examine(context: Context): Promise<Finding[]> {
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
