import { setTimeout as pause } from 'node:timers/promises';
import type { ScheduleDescription, ScheduleExecutionResult } from '@temporalio/client';
import { toTime } from '../contracts/values.js';
import type { TemporalClient } from './command.js';
import { CliFailure } from './failure.js';

/** A schedule as the command line shows it. */
export interface ScheduleResource {
  readonly object: 'schedule';
  readonly id: string;
  readonly workflow_type: string;
  /** Spans in milliseconds between two runs; empty where it runs by a calendar. */
  readonly every_ms: readonly number[];
  readonly paused: boolean;
  readonly note: string | null;
  readonly next_run_at: string | null;
  readonly last_run_at: string | null;
  /** Workflow ids of runs that have not ended. */
  readonly running: readonly string[];
  readonly runs: number;
  readonly skipped_overlap: number;
  readonly missed: number;
}

/** What one run of a schedule came to. */
export interface ScheduleRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly result: unknown;
}

/** The schedule of that id, or null. */
export async function findSchedule({ client }: TemporalClient, id: string): Promise<ScheduleDescription | null> {
  const { ScheduleNotFoundError } = await import('@temporalio/client');
  try {
    return await client.schedule.getHandle(id).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/** All schedules by id. The server's own list lags behind: those that are `expected` are asked for by name as well. */
export async function listSchedules(
  temporal: TemporalClient,
  expected: readonly string[],
): Promise<ScheduleDescription[]> {
  const ids = new Set(expected);
  for await (const { scheduleId } of temporal.client.schedule.list()) ids.add(scheduleId);
  const found = await Promise.all([...ids].sort().map((id) => findSchedule(temporal, id)));
  return found.filter((schedule) => schedule !== null);
}

export function toSchedule({ scheduleId, spec, action, state, info }: ScheduleDescription): ScheduleResource {
  return {
    object: 'schedule',
    id: scheduleId,
    workflow_type: action.workflowType,
    every_ms: (spec.intervals ?? []).map(({ every }) => every),
    paused: state.paused,
    note: state.note || null,
    next_run_at: toTime(info.nextActionTimes[0] ?? null),
    last_run_at: toTime(info.recentActions.at(-1)?.takenAt ?? null),
    running: info.runningActions.map(({ workflow }) => workflow.workflowId),
    runs: info.numActionsTaken,
    skipped_overlap: info.numActionsSkippedOverlap,
    missed: info.numActionsMissedCatchupWindow,
  };
}

/** How often the schedule is asked whether it has started its run. */
const LOOK_MS = 100;

/**
 * Makes the schedule run now, with the effect of a run on time, and waits for the run's result. While another one runs,
 * it begins right behind it: its result speaks of what there was when it was asked for. `started` is told its id.
 * Throws `unavailable` when it has not ended after `waitMs`, and `unexpected` when the run failed.
 */
export async function runSchedule(
  temporal: TemporalClient,
  before: ScheduleDescription,
  options: { waitMs: number; started: (workflowId: string) => void },
): Promise<ScheduleRun> {
  const { ScheduleOverlapPolicy, WorkflowFailedError } = await import('@temporalio/client');
  const until = Date.now() + options.waitMs;
  const handle = temporal.client.schedule.getHandle(before.scheduleId);
  await handle.trigger(ScheduleOverlapPolicy.BUFFER_ONE);
  const { workflowId, firstExecutionRunId: runId } = await newRun(temporal, before, until);
  options.started(workflowId);
  try {
    const run = temporal.client.workflow.getHandle(workflowId, runId);
    // Ends of runs that went on in a fresh one are followed.
    const result: unknown = await temporal.connection.withDeadline(until, () => run.result());
    return { workflowId, runId, result };
  } catch (error) {
    if (Date.now() >= until) throw notEnded(workflowId, error);
    if (!(error instanceof WorkflowFailedError)) throw error;
    const message = `The run ${workflowId} failed (${error.cause?.name ?? error.name}). See it in Temporal's UI.`;
    throw new CliFailure('unexpected', message, { cause: error });
  }
}

async function newRun(temporal: TemporalClient, before: ScheduleDescription, until: number) {
  const known = new Set(before.info.recentActions.map(runIdOf));
  const handle = temporal.client.schedule.getHandle(before.scheduleId);
  for (;;) {
    const { info } = await handle.describe();
    const fresh = info.recentActions.find((action) => !known.has(runIdOf(action)));
    if (fresh) return fresh.action.workflow;
    if (Date.now() >= until) throw notEnded(before.scheduleId, undefined);
    await pause(LOOK_MS);
  }
}

function runIdOf({ action }: ScheduleExecutionResult): string {
  return action.workflow.firstExecutionRunId;
}

function notEnded(id: string, cause: unknown): CliFailure {
  const message =
    `${id} was asked to run and has not ended yet; it goes on, and \`sverka schedules list\` shows it. ` +
    '`sverka doctor` says whether a worker is up.';
  return new CliFailure('unavailable', message, { cause });
}
