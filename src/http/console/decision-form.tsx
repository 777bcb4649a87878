import type { Child } from 'hono/jsx';
import type { DecisionOutcome } from '../../db/decisions.js';
import { readDecisionOutcome } from '../../db/decisions.js';
import type { PendingDecision } from '../../db/pending-decisions.js';
import type { SignedCall } from '../pages/call.js';
import { type Choice, Choices } from '../pages/parts/choices.js';
import { TextArea } from '../pages/parts/field.js';
import { Form } from '../pages/parts/form.js';
import { Notice } from '../pages/parts/notice.js';
import type { View } from '../pages/view.js';
import { findWord, type Word } from '../pages/words.js';
import { type ConsoleDeps, DECIDERS } from './console-deps.js';
import type { DecisionField, DecisionProblem } from './take-decision.js';

const ROWS = ['money', 'there', 'merchant', 'wrong'] as const;

/** What came of the decision that the address names; null where it names none. */
export async function readLeft({ deps, query }: SignedCall<ConsoleDeps>): Promise<LeftNotice | null> {
  const id = query.get('decision') ?? '';
  if (!/^dec_[0-9a-z]{26}$/.test(id)) return null;
  return { came: await readDecisionOutcome(deps.db, id) };
}

interface LeftNotice {
  /** Null while nobody has applied it. */
  readonly came: DecisionOutcome | null;
}

/** What a person is told of a decision: of the one just left, or why it was not taken. */
export function DecisionNotices(of: { view: View; left: LeftNotice | null; problem: DecisionProblem | null }) {
  const { view, left, problem } = of;
  if (problem?.changed) {
    return (
      <Notice tone="person" title={view.t(problem.changed)} alert>
        <p>{view.t(`${problem.changed}_more`)}</p>
      </Notice>
    );
  }
  if (problem?.status === 403) {
    return (
      <Notice tone="fail" alert>
        {view.t('decide_not_you')}
      </Notice>
    );
  }
  if (left === null) return null;
  if (left.came === null) {
    return (
      <Notice tone="wait" title={view.t('decide_left')}>
        <p>{view.t('decide_left_more')}</p>
      </Notice>
    );
  }
  const isApplied = left.came.outcome === 'applied';
  return (
    <Notice tone={isApplied ? 'ok' : 'person'} title={view.t(isApplied ? 'decide_applied' : 'decide_void')}>
      <p>{left.came.detail}</p>
    </Notice>
  );
}

/** What is peculiar to the decisions on a subject. */
export interface DecisionTerms {
  /** Who may choose what; by default whoever decides at all. */
  readonly may?: (choice: string) => boolean;
  /** The field of what a choice names; `error` is why what was entered names nothing. */
  readonly field?: (choice: string, error: string | undefined) => Child | undefined;
  /** A choice hands in a file. */
  readonly upload?: boolean;
  /** What else the form asks of who may make these choices, above its button. */
  readonly confirm?: (choices: readonly string[], problem: DecisionProblem | null) => Child;
  /** Said instead of the form to who may choose nothing. */
  readonly notYou?: Word;
}

/** The form of a decision: each choice with what follows from it, bound to what the page shows. */
export function DecisionForm(of: {
  call: SignedCall<ConsoleDeps>;
  pending: PendingDecision<unknown>;
  action: string;
  problem: DecisionProblem | null;
  terms?: DecisionTerms;
}) {
  const { call, pending, action, problem, terms = {} } = of;
  const { view, session, form } = call;
  const seen = pending.seenHash.toString('hex');
  const error = (name: DecisionField) => {
    const word = problem?.fields[name];
    return word === undefined ? undefined : view.t(word);
  };
  if (pending.choices.length === 0) return <p class="muted">{view.t('decide_nothing')}</p>;
  const { may = () => DECIDERS.some((role) => session.roles.includes(role)), notYou = 'decide_not_you' } = terms;
  const choices = pending.choices.filter(may);
  if (choices.length === 0) return <p class="muted">{view.t(notYou)}</p>;
  return (
    <Form action={action} csrf={session.csrf} class="section" upload={terms.upload ?? false}>
      <input type="hidden" name="stage" value={pending.stage} />
      <input type="hidden" name="seen" value={seen} />
      {problem?.status === 422 ? <Errors view={view} problem={problem} /> : null}
      <Choices
        legend={view.t('decide_legend')}
        chosen={form.text('choice')}
        choices={choices.map((name) => ({
          ...choiceOf(view, { type: pending.type, name }),
          field: terms.field?.(name, error('argument')),
        }))}
      />
      <div class="form choices-end">
        <TextArea
          id="reason"
          label={view.t('decide_reason')}
          hint={view.t('decide_reason_hint')}
          error={error('reason')}
          value={form.text('reason')}
          maxlength={1_000}
          required
        />
        {terms.confirm?.(choices, problem)}
        <div class="form-end">
          <button type="submit" class="btn btn--main">
            {view.t('decide_record')}
          </button>
          <span class="small muted">
            {view.t('decide_bound')}: <span class="id">{shortHash(seen)}</span>. {view.t('decide_bound_more')}
          </span>
        </div>
      </div>
    </Form>
  );
}

function Errors({ view, problem }: { view: View; problem: DecisionProblem }) {
  return (
    <Notice tone="fail" title={view.t('problem_422')} alert>
      <ul>
        {Object.entries(problem.fields).map(([name, word]) => (
          <li>
            <a href={name === 'reason' || name === 'passkey' ? `#${name}` : '#main'}>{view.t(word)}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function choiceOf(view: View, of: { type: string; name: string }): Choice {
  const key = `choice_${of.type}_${of.name}`;
  const text = (name: string) => {
    const word = findWord(name);
    if (word === null) throw new Error(`There are no words for ${name}: a choice is added with its words.`);
    return view.t(word);
  };
  return {
    value: of.name,
    name: text(key),
    what: text(`${key}_what`),
    rows: ROWS.map((row) => ({ name: view.t(`row_${row}`), value: text(`${key}_${row}`) })),
  };
}

/** The first and last bytes, to be compared by eye. */
function shortHash(hex: string): string {
  return `${hex.slice(0, 4)} ${hex.slice(4, 8)} … ${hex.slice(-8, -4)} ${hex.slice(-4)}`;
}
