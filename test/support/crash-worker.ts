// A worker that stops for ever at chosen steps, so that it can be killed between any two. Started by crash-child.ts.
import { NativeConnection } from '@temporalio/worker';
import { createActivities } from '../../src/activities/create-activities.js';
import type { ActivityDeps } from '../../src/activities/deps.js';
import { createActivityInterceptor } from '../../src/activities/interceptor.js';
import { nudgeBalances } from '../../src/client/balances.js';
import { startCardChange } from '../../src/client/card-changes.js';
import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { nudgeIssuance, startIssuance } from '../../src/client/issuances.js';
import { startCardLoad } from '../../src/client/loads.js';
import { connectTemporal } from '../../src/client/temporal.js';
import { nudgeWithdrawal } from '../../src/client/withdrawals.js';
import { loadConfig } from '../../src/config.js';
import { createPool } from '../../src/db/pool.js';
import { createProviders } from '../../src/providers/create-providers.js';
import { createKeyProvider } from '../../src/providers/keys/create-key-provider.js';
import { keySettings } from '../../src/providers/keys/key-settings.js';
import { silentLog } from '../../src/telemetry/log.js';
import { createWorkers } from '../../src/temporal-workers.js';
import type { CrashMessage, CrashPoints } from './crash-child.js';
import { ANSWER, FAILURE, type LostAnswer, type Step, withSteps } from './crash-steps.js';
import { plantedInWorker } from './planted-in-worker.js';
import { installRuntime } from './worker-world.js';

installRuntime();
const config = loadConfig();
const left: Record<string, number[]> = JSON.parse(process.env.TEST_CRASH_POINTS ?? '{}') satisfies CrashPoints;
const assigned = new Map<string, number | undefined>();
const held = new Set<string>();
const say = (message: CrashMessage) => process.send?.(message);

const losing = process.env.TEST_CRASH_MODE === 'lose';
let letGo: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  letGo = resolve;
});
process.on('message', () => letGo());
// Nobody is left who could kill it.
process.on('disconnect', () => process.exit());

/** The first subject that comes to an activity takes its first point, and so on; those that come later go through. */
async function at(step: Step): Promise<LostAnswer | undefined> {
  const key = `${step.activity} ${step.subject}`;
  if (!assigned.has(key)) assigned.set(key, left[step.activity]?.shift());
  const point = assigned.get(key);
  if (point === undefined) return undefined;
  // Held for longer than an attempt may take, it is tried again here: this process does nothing more for it.
  if (step.number === 0 && held.has(key)) await released;
  if (step.number === point) {
    if (losing) return { lost: () => done('lost', step), came: () => done('came', step) };
    held.add(key);
    say({ kind: 'held', step });
    await released;
  }
  const ended = step.label === ANSWER || step.label === FAILURE;
  if (ended && step.number >= point) say({ kind: 'passed', step });
  else if (step.label === ANSWER && !held.has(key)) say({ kind: 'missed', step, point });
  return undefined;
}

/** Once for each point: what is tried again after a lost answer goes through. */
function done(kind: 'lost' | 'came', step: Step): void {
  assigned.set(`${step.activity} ${step.subject}`, undefined);
  say({ kind, step });
}

const pool = createPool(config.DATABASE_URL, { max: config.SVERKA_DATABASE_POOL, applicationName: 'crash-worker' });
const providers = createProviders(config);
const temporal = connectTemporal(config);
const ownAccount = (name: string) => config.providers.find(({ provider }) => provider === name)?.account ?? 'none';
const deps: ActivityDeps = {
  pool,
  config,
  log: silentLog,
  // Accounts of a test's own are all that of the simulator.
  custody: ({ book }) => providers.custody({ book, account: ownAccount('custody') }),
  issuer: ({ book }) => providers.issuer({ book, account: ownAccount('issuer') }),
  pert: ({ book }) => providers.pert({ book, account: ownAccount('pert') }),
  keys: createKeyProvider(keySettings(config, config.SVERKA_PROVIDER_TIMEOUT)),
  nudgeDeposit: (input, options) => nudgeDeposit(temporal, input, options),
  startDepositAddress: (input) => startDepositAddress(temporal, input),
  nudgeIssuance: (of) => nudgeIssuance(temporal, of),
  startIssuance: (input) => startIssuance(temporal, input),
  startCardLoad: (input) => startCardLoad(temporal, input),
  startCardChange: (input) => startCardChange(temporal, input),
  nudgeWithdrawal: (input) => nudgeWithdrawal(temporal, input),
  nudgeBalances: (input) => nudgeBalances(temporal, input),
};
const stepped = withSteps(plantedInWorker(process.env.TEST_CRASH_FAULT, deps), at);
const workers = await createWorkers({
  connection: await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS }),
  config,
  activities: stepped.activities(createActivities(stepped.deps)),
  interceptor: (context) => createActivityInterceptor(deps, context),
});
say({ kind: 'ready' });
await Promise.all(workers.map((worker) => worker.run()));
