import { SEARCH_ATTRIBUTES } from '../../local/temporal.js';
import type { Context, TemporalClient } from '../command.js';
import { expectedSchedules, expectedWorkflows } from '../expected-standing.js';
import { toFailure } from '../failure.js';
import { findSchedule, listSchedules, toSchedule } from '../schedules.js';
import { type Finding, missing, ok, warning } from './finding.js';

/** Numbers of the types in Temporal's API. */
const TYPES = { Keyword: 2, Bool: 5 } as const;
const DEADLINE_MS = 10_000;

/** Temporal answers, knows our search attributes by their types, and has what always has to be there. */
export async function checkTemporal(context: Context): Promise<Finding[]> {
  let temporal: TemporalClient;
  try {
    temporal = await context.temporal();
  } catch (error) {
    const fix = 'Start it (`npm start` does), or correct `temporalAddress` of the profile.';
    return [missing('temporal', toFailure(error).message, fix)];
  }
  const { connection } = temporal;
  return connection.withDeadline(Date.now() + DEADLINE_MS, async () => {
    const checks = [
      checkServer(temporal),
      checkSearchAttributes(temporal, context.profile().temporalNamespace),
      checkStanding(temporal, context),
      checkSchedules(temporal, context),
    ];
    const found = await Promise.allSettled(checks);
    return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : [unanswered(each.reason)]));
  });
}

async function checkServer({ connection }: TemporalClient): Promise<Finding[]> {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  return [ok('temporal', `server ${serverVersion ?? 'of an unknown version'}`)];
}

async function checkSearchAttributes({ connection }: TemporalClient, namespace: string): Promise<Finding[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => {
    const check = `search-attribute:${name}`;
    const found = customAttributes?.[name];
    const add = `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${type}`;
    if (found === TYPES[type]) return ok(check, type);
    if (found === undefined || found === null) return missing(check, 'not registered: every workflow hangs', add);
    const remove = `temporal operator search-attribute remove --namespace ${namespace} --name ${name}`;
    return missing(check, `registered with another type than ${type}`, `${remove}, then: ${add}`);
  });
}

async function checkStanding({ client }: TemporalClient, context: Context): Promise<Finding[]> {
  const { WorkflowNotFoundError } = await import('@temporalio/client');
  const fix = 'A worker starts it when it starts: start the worker again.';
  return Promise.all(
    expectedWorkflows(context.profile()).map(async (id) => {
      const check = `workflow:${id}`;
      try {
        const { status } = await client.workflow.getHandle(id).describe();
        return status.name === 'RUNNING' ? ok(check, 'runs') : missing(check, status.name.toLowerCase(), fix);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return missing(check, 'is not there', fix);
        throw error;
      }
    }),
  );
}

async function checkSchedules(temporal: TemporalClient, context: Context): Promise<Finding[]> {
  const expected = expectedSchedules(context.profile());
  const fix = 'A worker makes it when it starts: start the worker again.';
  if (expected.length === 0) {
    const found = await listSchedules(temporal, []);
    if (found.length === 0) return [missing('schedule', 'there is none', fix)];
    return found.map((schedule) => judge(toSchedule(schedule)));
  }
  return Promise.all(
    expected.map(async (id) => {
      const schedule = await findSchedule(temporal, id);
      return schedule === null ? missing(`schedule:${id}`, 'is not there', fix) : judge(toSchedule(schedule));
    }),
  );
}

function judge({ id, paused, next_run_at, missed }: ReturnType<typeof toSchedule>): Finding {
  const check = `schedule:${id}`;
  if (paused) return warning(check, 'paused', `temporal schedule toggle --unpause --schedule-id ${id} --reason …`);
  return ok(check, `next run ${next_run_at ?? 'never'}${missed > 0 ? `, ${missed} missed in outages` : ''}`);
}

function unanswered(error: unknown): Finding {
  return missing('temporal', toFailure(error).message, 'Look again in a moment; see the log of Temporal.');
}
