import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { type ProductProcess, startProduct } from '../support/product-process.js';
import { eventually, startTestServer, type TestServer } from '../support/simulated-custody.js';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { bundleImpatient, type MutantBundle } from '../support/worker-mutants.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { arrive, creditsOf, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

/** A machine of two cores may have much else to do. */
const WITHIN_MS = 300_000;

let world: WorkerWorld;
let bundle: MutantBundle;
let wire: TcpProxy;
let custodian: TestServer;
/** Lets the answers that the custodian gave the zombie reach it. */
let deliver: () => void;
/** What the custodian told the zombie. */
const answered: string[] = [];
const processes: ProductProcess[] = [];
beforeAll(async () => {
  const namespace = await makeNamespace();
  [world, bundle] = await Promise.all([
    openWorkerWorld({
      namespace,
      settings: { SVERKA_PROVIDER_TIMEOUT: '60s', SVERKA_BREAKER_LEASE: '75s', SVERKA_SWEEP_INTERVAL: '1h' },
    }),
    bundleImpatient(),
  ]);
  wire = await openTcpProxy(`http://${world.config.TEMPORAL_ADDRESS}`);
  const delivered = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  custodian = await startTestServer(async ({ url }, response) => {
    const answer = await fetch(`${world.custody.url}${url}`, { headers: { authorization: 'Bearer live-key' } });
    const body = await answer.text();
    answered.push(body);
    await delivered;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
  });
});
afterEach(async () => {
  for (const process of processes.splice(0)) await process.stop();
  await expectMoneyInvariants(world.owner);
});
afterAll(async () => {
  bundle?.remove();
  await wire?.close();
  await custodian?.close();
  await world?.close();
});

const startWorker = async (env: Record<string, string> = {}) => {
  const process = await startProduct('worker', { ...world.env, SVERKA_WORKFLOW_BUNDLE: bundle.path, ...env });
  processes.push(process);
  return process;
};
/** What the zombie itself said of its read, once it has come to an end. */
const endOfRead = (zombie: ProductProcess, ref: string) =>
  zombie
    .log()
    .find(
      (line) =>
        line.activity === 'providerReadDeposit' &&
        String(line.workflow_id).endsWith(ref) &&
        /^activity (done|failed)$/.test(String(line.msg)),
    );

test(
  'a worker stopped in a read, overtaken and continued neither doubles nor undoes [CASES L11]',
  async () => {
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to, { status: 'confirming' });
    const temporal = new URL(wire.url).host;
    const zombie = await startWorker({ TEMPORAL_ADDRESS: temporal, SVERKA_LIVE_CUSTODY_URL: custodian.url });
    await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
    await eventually(() => answered.length === 1);
    zombie.signal('SIGSTOP');
    // Temporal would hand tasks to its open polls for a minute, and wait for each; the wire breaks before that.
    wire.cutAll();
    // What is on its way to the stopped one was true and is no longer.
    expect(answered[0]).toContain('confirming');
    await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
    await startWorker();
    await world.temporal.client.workflow.getHandle(depositWorkflowId(depositInput(ref))).result();
    const before = await depositRow(world, ref);
    expect(before).toMatchObject({ state: 'final', flag: null });
    deliver();
    zombie.signal('SIGCONT');
    expect(await eventually(() => endOfRead(zombie, ref))).toMatchObject({ msg: 'activity done' });
    expect(await depositRow(world, ref)).toEqual(before);
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
    expect(zombie.isRunning()).toBe(true);
  },
  WITHIN_MS,
);
