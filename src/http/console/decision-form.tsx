import type { DecisionOutcome } from '../../db/decisions.js';
import { readDecisionOutcome } from '../../db/decisions.js';
import type { PendingDecision } from '../../db/pending-decisions.js';
import type { SignedCall } from '../pages/call.js';
import { type Choice, Choices } from '../pages/parts/choices.js';
import { TextArea, TextField } from '../pages/parts/field.js';
import { Form } from '../pages/parts/form.js';
import { Notice } from '../pages/parts/notice.js';
import type { View } from '../pages/view.js';
import { findWord } from '../pages/words.js';
import { type ConsoleDeps, DECIDERS } from './console-deps.js';
import type { DecisionProblem } from './take-decision.js';

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

/** The form of a decision: each choice with what follows from it, bound to what the page shows. */
export function DecisionForm(of: {
  call: SignedCall<ConsoleDeps>;
  pending: PendingDecision<unknown>;
  action: string;
  problem: DecisionProblem | null;
}) {
  const { call, pending, action, problem } = of;
  const { view, session, form } = call;
  const seen = pending.seenHash.toString('hex');
  const error = (name: 'choice' | 'reason' | 'link') => {
    const word = problem?.fields[name];
    return word === undefined ? undefined : view.t(word);
  };
  if (pending.choices.length === 0) return <p class="muted">{view.t('decide_nothing')}</p>;
  if (!DECIDERS.some((role) => session.roles.includes(role))) return <p class="muted">{view.t('decide_not_you')}</p>;
  return (
    <Form action={action} csrf={session.csrf} class="section">
      <input type="hidden" name="stage" value={pending.stage} />
      <input type="hidden" name="seen" value={seen} />
      {problem?.status === 422 ? <Errors view={view} problem={problem} /> : null}
      <Choices
        legend={view.t('decide_legend')}
        chosen={form.text('choice')}
        choices={pending.choices.map((name) => choiceOf(view, { type: pending.type, name }, form.text('link')))}
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
            <a href={name === 'choice' ? '#main' : `#${name}`}>{view.t(word)}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function choiceOf(view: View, of: { type: string; name: string }, link: string): Choice {
  const key = `choice_${of.type}_${of.name}`;
  const text = (name: string) => {
    const word = findWord(name);
    if (word === null) throw new Error(`There are no words for ${name}: a choice is added with its words.`);
    return view.t(word);
  };
  const hasField = findWord(`${key}_field`) !== null;
  return {
    value: of.name,
    name: text(key),
    what: text(`${key}_what`),
    rows: ROWS.map((row) => ({ name: view.t(`row_${row}`), value: text(`${key}_${row}`) })),
    ...(hasField
      ? { field: <TextField id="link" label={text(`${key}_field`)} hint={view.t('decide_link_bad')} value={link} /> }
      : {}),
  };
}

/** The first and last bytes, to be compared by eye. */
function shortHash(hex: string): string {
  return `${hex.slice(0, 4)} ${hex.slice(4, 8)} … ${hex.slice(-8, -4)} ${hex.slice(-4)}`;
}
