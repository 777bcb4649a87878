import { setTimeout as pause } from 'node:timers/promises';
import { REASON_CHARACTERS_MAX } from '../contracts/decision.js';
import { type DecisionOutcome, readDecisionOutcome } from '../db/decisions.js';
import { leaveDecision, type PendingDecision } from '../db/pending-decisions.js';
import { holdsCardNumber } from '../domain/card-numbers.js';
import { newTraceId } from '../telemetry/trace.js';
import { type CommandInput, type CommandOption, type Context, textOption } from './command.js';
import { CliFailure, EXIT, type ExitCode } from './failure.js';
import { answerDryRun } from './resources.js';
import { signIn } from './sign-in.js';

/** What a person decides on, as the command line shows it. */
export interface Pending extends Omit<PendingDecision<unknown>, 'record' | 'alert'> {
  /** `deposit dep_…`. */
  readonly title: string;
  /** With `--json`. */
  readonly document: object;
  /** All that the hash covers, and more. */
  readonly facts: readonly (readonly [string, string | null])[];
}

export interface Deciding {
  /** Null when the command was called without one. */
  readonly choice: string | null;
  /** What the choice names, where it names something. */
  readonly argument?: string | null;
  readonly pending: Pending;
  /** Asks who applies it to look now; whatever it comes to, the sweep finds the decision. */
  readonly nudge: (traceId: string) => Promise<void>;
  /** The subject after the decision, for a person and for `--json`. */
  readonly after: () => Promise<{ readonly document: object; readonly text: string }>;
}

export const DECISION_OPTIONS: readonly CommandOption[] = [
  { flags: '--as <login>', description: 'who decides: the own one-time link of this person is used' },
  { flags: '--wait <seconds>', description: 'how long to wait until it is applied, default 15' },
];
const WAIT_SECONDS_DEFAULT = 15;
const LOOK_MS = 100;

/**
 * Shows what waits for a person and, given a choice, a reason and a login, leaves that person's decision, bound to what
 * was shown; then waits for what comes of it. Without a choice it ends with 5 where one is needed.
 */
export async function decide(context: Context, input: CommandInput, of: Deciding): Promise<ExitCode> {
  const { out, flags } = context;
  const { pending, choice, argument = null } = of;
  if (choice === null) return showPending(context, pending);
  const { reason, login, waitMs } = termsOf(context, input);
  if (!pending.choices.includes(choice)) {
    const now =
      pending.choices.length === 0
        ? 'nothing waits for a decision'
        : `possible: ${pending.choices.map(flagOf).join(', ')}`;
    const message = `This cannot be decided on ${pending.title} as it stands; ${now}.`;
    throw new CliFailure('conflict', message, { problem: 'invalid_state' });
  }
  const doing = `${wordsOf(choice)} ${argument === null ? '' : `${argument} to `}${pending.title} as ${login}`;
  if (flags.dryRun) return answerDryRun(context, doing, pending.document);
  if (!out.json) out.facts(pending.facts);
  if (!(await context.confirm(`Decide to ${doing}?`))) {
    throw new CliFailure('interrupted', 'Nothing was decided.');
  }
  const traceId = newTraceId();
  const id = await leaveAs(context, { pending, choice, argument, reason, login, traceId });
  await of.nudge(traceId);
  const came = await waitForOutcome(context, id, waitMs);
  const { document, text } = await of.after();
  const { type: subject_type, id: subject_id, stage } = pending;
  const { outcome = null, detail = null } = came ?? {};
  out.result(
    {
      ...{ object: 'decision', id, subject_type, subject_id, stage, choice, argument, reason },
      ...{ user: login, outcome, detail, trace_id: traceId, subject: document },
    },
    () => {
      const said = { applied: out.mark.good('Applied'), void: out.mark.bad('Void') };
      if (came !== null) out.line(`\n${said[came.outcome]}: ${came.detail} (decision ${id}). ${text}`);
    },
  );
  return exitOf(context, id, came);
}

/** What was there a moment ago: rows are never deleted. */
export function stillThere<T>(found: T | null): T {
  if (found === null) throw new Error('What was to be decided on is gone, although no row is ever deleted.');
  return found;
}

/** Which of the command's choices was given; null without one. Throws `usage` for two. */
export function choiceOf(input: CommandInput, choices: readonly string[]): string | null {
  const given = choices.filter((choice) => input.options[optionOf(choice)] !== undefined);
  if (given.length > 1) throw new CliFailure('usage', 'Decide one thing: several were given.');
  return given[0] ?? null;
}

/** `declare_failed` as a flag: `--declare-failed`. */
export function flagOf(choice: string): string {
  return `--${choice.replaceAll('_', '-')}`;
}

/** The same as commander names its value. */
function optionOf(choice: string): string {
  return choice.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function wordsOf(choice: string): string {
  return choice.replaceAll('_', ' ');
}

function showPending({ out }: Context, { title, facts, choices, document, ...pending }: Pending): ExitCode {
  const { needed } = pending;
  const flags = choices.map(flagOf).join(' or ');
  out.result({ object: 'pending_decision', needed, choices, subject: document }, () => {
    out.facts(facts);
    out.line(
      needed
        ? `\n${out.mark.warn('Waits for a decision:')} ${flags}`
        : `\nNothing about ${title} waits for a decision.${flags === '' ? '' : ` Possible: ${flags}`}`,
    );
  });
  return needed ? EXIT.needsDecision : EXIT.done;
}

function termsOf({ flags }: Context, input: CommandInput): { reason: string; login: string; waitMs: number } {
  const reason = flags.reason?.trim() ?? '';
  if (reason === '' || [...reason].length > REASON_CHARACTERS_MAX) {
    const message = `A decision needs its reason: --reason <text>, up to ${REASON_CHARACTERS_MAX} characters.`;
    throw new CliFailure('usage', message);
  }
  if (holdsCardNumber(reason))
    throw new CliFailure('usage', 'The reason holds what may be a card number: leave it out.');
  const login = textOption(input, 'as');
  if (login === null) throw new CliFailure('usage', 'A decision is a person’s: say who decides with --as <login>.');
  const wait = textOption(input, 'wait') ?? String(WAIT_SECONDS_DEFAULT);
  if (!/^[0-9]{1,4}$/.test(wait)) throw new CliFailure('usage', '--wait is a whole number of seconds.');
  return { reason, login, waitMs: Number(wait) * 1_000 };
}

async function leaveAs(
  context: Context,
  of: { pending: Pending; choice: string; argument: string | null; reason: string; login: string; traceId: string },
): Promise<string> {
  const { pending, choice, argument, reason, login, traceId } = of;
  const { type: subjectType, id: subjectId, stage, seenHash } = pending;
  const userId = await signIn(context, login);
  const decision = { subjectType, subjectId, stage, choice, argument, seenHash, userId, reason, traceId };
  const left = await leaveDecision(context.db(), decision);
  if (left.kind === 'left') return left.id;
  const { cause } = left;
  if (left.kind === 'decided_before') {
    const message = `Somebody has decided on ${pending.title} meanwhile; see \`sverka trace ${subjectId}\`.`;
    throw new CliFailure('conflict', message, { problem: 'invalid_state', cause });
  }
  const message = `${login} may not decide to ${choice} a ${subjectType.replace('_', ' ')}: it takes another role.`;
  throw new CliFailure('notPermitted', message, { cause });
}

async function waitForOutcome(context: Context, id: string, waitMs: number): Promise<DecisionOutcome | null> {
  for (const until = Date.now() + waitMs; ; ) {
    const came = await readDecisionOutcome(context.db(), id);
    if (came !== null || Date.now() >= until) return came;
    await pause(LOOK_MS);
  }
}

function exitOf(context: Context, id: string, came: DecisionOutcome | null): ExitCode {
  if (came === null) {
    context.note(`Decision ${id} is kept and not applied yet: it is as soon as worker and provider answer.`);
    return EXIT.unavailable;
  }
  if (came.outcome === 'applied') return EXIT.done;
  context.note('Nothing was done, for what was decided on is not so any more. Look again.');
  return EXIT.conflict;
}
