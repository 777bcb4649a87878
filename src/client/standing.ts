import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Config } from '../config.js';
import type { BalanceSyncInput } from '../contracts/balance-messages.js';
import {
  balanceSyncWorkflowId,
  DRIFT_CHECK_SCHEDULE_ID,
  depositReconcileScheduleId,
  FULL_CHECK_SCHEDULE_ID,
  HEALTH_WATCH_WORKFLOW_ID,
  INBOX_SWEEP_WORKFLOW_ID,
  issuanceReconcileScheduleId,
} from '../contracts/ids.js';
import type { DepositReconcileInput, IssuanceReconcileInput } from '../contracts/messages.js';
import type { balanceSync, healthWatch, inboxSweep } from '../workflows/index.js';
import { keyIdOf } from './encryption-codec.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

/** A run missed in an outage is caught up within this window and not later: the next one repairs the same. */
const CATCHUP_WINDOW_MS = 3_600_000;
/** When the books are quiet, in UTC. */
const FULL_CHECK_OFFSET_MS = 3 * 3_600_000;
const TRIES_MAX = 20;
const BUSY_MS = 100;
/** gRPC's own numbers. */
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
/** One call; a server that takes it and never answers must not end the keeping. */
const DEADLINE_MS = 10_000;

/** Makes what must always be there: standing workflows and schedules. Once, by any number of workers. */
export async function ensureStanding(temporal: Temporal, config: Config): Promise<void> {
  const within = (call: () => Promise<unknown>) =>
    whileBusy(() => temporal.connection.withDeadline(Date.now() + DEADLINE_MS, call));
  await within(() => startStanding(temporal, config));
  for (const schedule of schedulesOf(temporal, config)) await within(() => ensureSchedule(temporal, schedule));
}

/** Ids of standing workflows that do not run and of schedules that are not there; empty when all is well. */
export async function missingStanding(temporal: Temporal, config: Config): Promise<string[]> {
  const { workflow, schedule } = temporal.client;
  const runs = async (id: string) => (await workflow.getHandle(id).describe()).status.name === 'RUNNING';
  const exists = async (id: string) => (await schedule.getHandle(id).describe()).scheduleId === id;
  const schedules = schedulesOf(temporal, config).map(({ scheduleId }) => scheduleId);
  const missing = await Promise.all([
    ...standingIdsOf(config).map(async (id) => ((await runs(id).catch(falseWhenAbsent)) ? [] : [id])),
    ...schedules.map(async (id) => ((await exists(id).catch(falseWhenAbsent)) ? [] : [id])),
  ]);
  return missing.flat();
}

function standingIdsOf(config: Config): string[] {
  return [INBOX_SWEEP_WORKFLOW_ID, HEALTH_WATCH_WORKFLOW_ID, ...mirrored(config).map(balanceSyncWorkflowId)];
}

/** The accounts whose balances are mirrored, one run for each. */
function mirrored(config: Config): BalanceSyncInput[] {
  return config.providers.flatMap(({ provider, book, account }) =>
    provider === 'pert' ? [{ book, provider, account }] : [],
  );
}

function falseWhenAbsent(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError || error instanceof ScheduleNotFoundError) return false;
  throw error;
}

async function startStanding({ client, taskQueue }: Temporal, config: Config): Promise<void> {
  const options = { taskQueue, args: [] as [], workflowIdConflictPolicy: 'USE_EXISTING' as const };
  await client.workflow.start<typeof inboxSweep>('inboxSweep', {
    ...options,
    workflowId: INBOX_SWEEP_WORKFLOW_ID,
    staticSummary: 'Finds notifications that nobody came for',
  });
  await client.workflow.start<typeof healthWatch>('healthWatch', {
    ...options,
    workflowId: HEALTH_WATCH_WORKFLOW_ID,
    staticSummary: 'Looks each minute whether anything is ill',
  });
  for (const input of mirrored(config)) {
    await client.workflow.start<typeof balanceSync>('balanceSync', {
      ...{ taskQueue, args: [input], workflowIdConflictPolicy: 'USE_EXISTING' },
      workflowId: balanceSyncWorkflowId(input),
      staticSummary: `Mirrors the balances of ${input.account}`,
      typedSearchAttributes: searchAttributesOf({ kind: 'balance_sync', ref: input.account, book: input.book }),
    });
  }
}

/** All schedules of this configuration: the books' own checks, and a reconciliation for each account that has one. */
export function schedulesOf({ taskQueue }: Temporal, config: Config): ScheduleOptions[] {
  const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW_MS };
  const scheduled = (id: string, workflowType: string, rest: { args: unknown[]; staticSummary: string }) => ({
    scheduleId: id,
    policies,
    action: { type: 'startWorkflow' as const, workflowType, workflowId: id, taskQueue, ...rest },
  });
  const drift = { args: [], staticSummary: 'Rebuilds the balances that changed' };
  const full = { args: [], staticSummary: 'Rebuilds all balances from all entries' };
  const reconciles = reconciliationsOf(config).map(({ id, workflowType, everyMs, input, staticSummary, kind }) => {
    const { action, ...schedule } = scheduled(id, workflowType, { args: [input], staticSummary });
    const attributes = searchAttributesOf({ kind, ref: input.account, book: input.book });
    const spec = { intervals: [{ every: everyMs }] };
    return { ...schedule, spec, action: { ...action, typedSearchAttributes: attributes } };
  });
  return [
    ...reconciles,
    {
      ...scheduled(DRIFT_CHECK_SCHEDULE_ID, 'driftCheck', drift),
      spec: { intervals: [{ every: config.SVERKA_DRIFT_CHECK_INTERVAL }] },
    },
    {
      ...scheduled(FULL_CHECK_SCHEDULE_ID, 'fullCheck', full),
      spec: { intervals: [fullCheckInterval(config.SVERKA_FULL_CHECK_INTERVAL)] },
    },
  ];
}

interface Reconciliation {
  readonly id: string;
  readonly workflowType: string;
  readonly everyMs: number;
  readonly input: DepositReconcileInput | IssuanceReconcileInput;
  readonly staticSummary: string;
  readonly kind: string;
}

/** What is reconciled at each configured account: at a custodian deposits, at an issuer what waits for it. */
function reconciliationsOf(config: Config): Reconciliation[] {
  return config.providers.flatMap(({ provider, book, account }): Reconciliation[] => {
    switch (provider) {
      case 'custody': {
        const input = { book, provider, account };
        const staticSummary = `Reconciles deposits at ${account}`;
        const every = { everyMs: config.SVERKA_RECONCILE_INTERVAL, kind: 'deposit_reconcile' };
        const id = depositReconcileScheduleId(input);
        return [{ ...every, id, workflowType: 'depositReconcile', input, staticSummary }];
      }
      case 'issuer': {
        const input = { book, provider, account };
        const staticSummary = `Asks about issuances that wait at ${account}`;
        const every = { everyMs: config.SVERKA_ISSUANCE_RECONCILE_INTERVAL, kind: 'issuance_reconcile' };
        const id = issuanceReconcileScheduleId(input);
        return [{ ...every, id, workflowType: 'issuanceReconcile', input, staticSummary }];
      }
      // A run of its own for ever, no schedule: it has its clock itself.
      case 'pert':
        return [];
    }
  });
}

/** At a quiet hour where it runs by days; Temporal takes no offset that is not shorter than the interval. */
function fullCheckInterval(every: number): { every: number; offset?: number } {
  return every > FULL_CHECK_OFFSET_MS ? { every, offset: FULL_CHECK_OFFSET_MS } : { every };
}

/** Creates it, or brings it up to date where it differs; an operator's pause survives. */
async function ensureSchedule({ client }: Temporal, options: ScheduleOptions): Promise<void> {
  try {
    await client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(options.scheduleId);
    // Written only when it must be: what a person does between our read and our write would be lost.
    const found = await handle.describe();
    if (shapeOf(found) === shapeOf(options) && (await isSealedAsNow(client, found))) return;
    await handle.update(({ state }) => ({ ...options, state }));
  }
}

/** What we decide of a schedule, in a form that can be compared. */
function shapeOf({ spec, policies, action }: Pick<ScheduleOptions, 'spec' | 'policies' | 'action'>): string {
  const intervals = spec.intervals?.map(({ every, offset }) => [every, offset ?? 0]);
  const { overlap, catchupWindow } = policies ?? {};
  const { workflowType, workflowId, taskQueue, args } = action;
  return JSON.stringify([intervals, overlap, catchupWindow, workflowType, workflowId, taskQueue, args]);
}

/** A schedule outlives every history: it is written again when another key encrypts, so that the old one can go. */
async function isSealedAsNow({ options }: Client, { raw }: ScheduleDescription): Promise<boolean> {
  const [codec] = options.loadedDataConverter.payloadCodecs;
  const [now] = (await codec?.encode([{ metadata: {}, data: new Uint8Array() }])) ?? [];
  return keyIdOf(raw.schedule?.action?.startWorkflow?.userMetadata?.summary) === keyIdOf(now);
}

/** Many workers that start at once ask for the same; Temporal then refuses some of them for a moment. */
async function whileBusy(call: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await call();
      return;
    } catch (error) {
      if (tries === TRIES_MAX || !isBusy(error)) throw error;
      await pause(Math.random() * BUSY_MS * tries);
    }
  }
}

function isBusy(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at)) return at.code === RESOURCE_EXHAUSTED || at.code === ABORTED;
  }
  return false;
}
