import { answerList } from '../answer-list.js';
import { argument, type Command, type CommandInput, textOption } from '../command.js';
import { expectedSchedules } from '../expected-standing.js';
import { CliFailure, EXIT } from '../failure.js';
import { utc } from '../output.js';
import { answerDryRun } from '../resources.js';
import { findSchedule, listSchedules, runSchedule, toSchedule } from '../schedules.js';

const WAIT_SECONDS_DEFAULT = 600;

export const listSchedulesCommand: Command = {
  path: ['schedules', 'list'],
  summary: 'what runs by the clock, and when',
  examples: ['schedules list', 'schedules list --json'],
  run: (context) =>
    answerList(context, {
      scope: ['schedules', 'list'],
      async find({ after, limit }) {
        const all = await listSchedules(await context.temporal(), expectedSchedules(context.profile()));
        const ofBook = all.filter(({ scheduleId }) => isOfBook(scheduleId, context.flags.book));
        return ofBook.filter(({ scheduleId }) => after === null || scheduleId > after).slice(0, limit + 1);
      },
      show: toSchedule,
      position: ({ scheduleId }) => scheduleId,
      columns: [
        { title: 'ID' },
        { title: 'EVERY', align: 'right' },
        { title: 'STATE' },
        { title: 'RUNS', align: 'right' },
        { title: 'LAST (UTC)' },
        { title: 'NEXT (UTC)' },
      ],
      cells: (schedule) => [
        schedule.id,
        schedule.every_ms.map(spanOf).join(', ') || '–',
        stateOf(schedule),
        String(schedule.runs),
        utc(schedule.last_run_at),
        utc(schedule.next_run_at),
      ],
    }),
};

export const runScheduleCommand: Command = {
  path: ['schedules', 'run'],
  summary: 'a run now, with the effect of a run on time; waits for it and prints its counts',
  args: [{ name: '<id>', description: 'as `schedules list` shows it' }],
  options: [
    { flags: '--wait <seconds>', description: `how long to wait for its end, default ${WAIT_SECONDS_DEFAULT}` },
  ],
  examples: ['schedules run deposit-reconcile:live:custody', 'schedules run deposit-reconcile:live:custody --dry-run'],
  async run(context, input) {
    const { out } = context;
    const waitMs = waitOf(input) * 1_000;
    const temporal = await context.temporal();
    const schedule = await findSchedule(temporal, argument(input, 0));
    if (schedule === null) {
      throw new CliFailure('notFound', 'There is no such schedule. `sverka schedules list` shows all.');
    }
    const { scheduleId, action } = schedule;
    if (context.flags.dryRun) {
      return answerDryRun(context, `run ${action.workflowType} of ${scheduleId} now`, toSchedule(schedule));
    }
    const started = (workflowId: string) => {
      if (!out.json) context.note(`${workflowId} runs …`);
    };
    const { workflowId, runId, result } = await runSchedule(temporal, schedule, { waitMs, started });
    const document = {
      object: 'schedule_run',
      schedule_id: scheduleId,
      workflow_id: workflowId,
      run_id: runId,
      result,
    };
    out.result(document, () => {
      out.line(`${out.mark.good('Done:')} ${workflowId}`);
      const counts = typeof result === 'object' && result !== null ? Object.entries(result) : [];
      if (counts.length > 0) {
        const columns = [{ title: 'COUNT' }, { title: '', align: 'right' as const }];
        out.table(
          columns,
          counts.map(([name, value]) => [name, String(value)]),
        );
      }
    });
    return EXIT.done;
  },
};

function waitOf(input: CommandInput): number {
  const text = textOption(input, 'wait');
  if (text === null) return WAIT_SECONDS_DEFAULT;
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new CliFailure('usage', '--wait is a whole number of seconds, 1 or more.');
  return Number(text);
}

/** Ids name the book as their second part (DESIGN 6); one that names none serves both. */
function isOfBook(scheduleId: string, book: string | null): boolean {
  const named = scheduleId.split(':')[1];
  return book === null || (named !== 'live' && named !== 'test') || named === book;
}

function stateOf({ paused, running }: { paused: boolean; running: readonly string[] }): string {
  if (paused) return 'paused';
  return running.length > 0 ? 'running' : 'waits';
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A span as src/config.ts reads it: `1h`, `500ms`. */
function spanOf(ms: number): string {
  const unit = UNITS.find(([, size]) => ms % size === 0);
  return unit ? `${ms / unit[1]}${unit[0]}` : `${ms}ms`;
}
