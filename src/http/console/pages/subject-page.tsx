import type { Child } from 'hono/jsx';
import { readLogins } from '../../../db/names.js';
import type { PendingDecision } from '../../../db/pending-decisions.js';
import { readSubjectTrace, type Trace } from '../../../db/trace.js';
import type { SignedCall } from '../../pages/call.js';
import { type Fact, Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Icon } from '../../pages/parts/icon.js';
import { Fresh } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { Postings } from '../../pages/parts/postings.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { Timeline } from '../../pages/parts/timeline.js';
import { respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import { type ConsoleDeps, workflowLink } from '../console-deps.js';
import { DecisionForm, DecisionNotices, type DecisionTerms, readLeft } from '../decision-form.js';
import type { DecisionProblem } from '../take-decision.js';

/** What the page of one subject shows: a deposit, an issuance, a dead letter. */
export interface Subject {
  readonly pending: PendingDecision<unknown>;
  readonly book: 'live' | 'test';
  readonly state: string;
  readonly title: string;
  readonly crumb: { readonly href: string; readonly word: Word };
  readonly more: Child;
  /** What is said first, where something has to be. */
  readonly notice?: { readonly tone: 'unk' | 'person'; readonly title: Word; readonly text: Word };
  readonly facts: readonly Fact[];
  /** Null where no workflow follows it. */
  readonly workflowId: string | null;
  /** Where the decision goes to. */
  readonly action: string;
  readonly terms?: DecisionTerms;
  /** Shown between the facts and the decision. */
  readonly evidence?: Child;
}

/** Facts, decision, postings and history of one subject; `problem` is why a decision was not taken. */
export async function subjectPage(
  call: SignedCall<ConsoleDeps>,
  subject: Subject,
  problem: DecisionProblem | null,
): Promise<Response> {
  const { deps, view } = call;
  const { pending, crumb, notice } = subject;
  const trace = await readSubjectTrace(deps.pool, pending.id);
  const [people, left] = await Promise.all([readLogins(deps.db, peopleOf(trace)), readLeft(call)]);
  const shown: View = { ...view, book: subject.book };
  return respond(
    call,
    { title: subject.title, book: subject.book, status: problem?.status ?? 200 },
    <>
      <Head
        view={shown}
        title={subject.title}
        crumb={{ href: crumb.href, name: view.t(crumb.word) }}
        state={<StateMark view={view} state={subject.state} pill />}
        more={subject.more}
        end={<HeadEnd call={call} workflowId={subject.workflowId} />}
      />
      <DecisionNotices view={view} left={left} problem={problem} />
      {notice === undefined ? null : (
        <Notice tone={notice.tone} title={view.t(notice.title)}>
          <p>{view.t(notice.text)}</p>
        </Notice>
      )}
      {pending.alert === null ? null : (
        <Notice tone="person" title={view.t('decide_waits')}>
          <p>{pending.alert}</p>
        </Notice>
      )}
      <section class="section" aria-labelledby="h-facts">
        <div class="section-head">
          <h2 id="h-facts">{view.t('what_is_known')}</h2>
        </div>
        <Facts view={view} facts={subject.facts} />
      </section>
      {subject.evidence}
      <section class="section" aria-labelledby="h-decide">
        <div class="section-head">
          <h2 id="h-decide">{view.t('decide')}</h2>
        </div>
        <DecisionForm
          {...{ call, pending, action: subject.action, problem }}
          {...(subject.terms === undefined ? {} : { terms: subject.terms })}
        />
      </section>
      <History view={view} trace={trace} people={people} />
    </>,
  );
}

/** Postings and timeline of a trace. */
export function History(of: { view: View; trace: Trace; people: ReadonlyMap<string, string> }) {
  const { view, trace, people } = of;
  const movements = trace.items.flatMap((item) => (item.kind === 'movement' ? [item.movement] : []));
  return (
    <>
      <section class="section" aria-labelledby="h-post">
        <div class="section-head">
          <h2 id="h-post">{view.t('postings')}</h2>
        </div>
        <Postings view={view} movements={movements} />
      </section>
      <section class="section" aria-labelledby="h-time">
        <div class="section-head">
          <h2 id="h-time">{view.t('timeline')}</h2>
          <span class="fresh">
            {view.zone}, {view.t('newest_first')}
          </span>
        </div>
        {trace.truncated ? <p class="muted">{view.t('timeline_cut')}</p> : null}
        <Timeline view={view} items={trace.items} people={people} />
      </section>
    </>
  );
}

/** Ids of the people whom a trace names. */
export function peopleOf({ items }: Trace): string[] {
  return items.flatMap((item) => {
    if (item.kind === 'decision') return [item.userId];
    return item.kind === 'move' && item.actor.startsWith('user:') ? [item.actor.slice(5)] : [];
  });
}

function HeadEnd({ call, workflowId }: { call: SignedCall<ConsoleDeps>; workflowId: string | null }) {
  const { view, deps } = call;
  const link = workflowId === null ? null : workflowLink(deps, workflowId);
  return (
    <>
      <Fresh view={view} at={view.now} />
      {link === null ? null : (
        <a class="btn" href={link} rel="noreferrer">
          {view.t('run_in_temporal')} <Icon name="external" />
        </a>
      )}
    </>
  );
}
