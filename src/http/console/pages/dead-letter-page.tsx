import type { DeadLetterRecord } from '../../../db/dead-letters.js';
import { type PendingDecision, pendingDeadLetter } from '../../../db/pending-decisions.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { Moment } from '../../pages/parts/moment.js';
import { redirect } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { ConsoleDeps } from '../console-deps.js';
import { type DecisionProblem, takeDecision } from '../take-decision.js';
import { type Subject, subjectPage } from './subject-page.js';

type Pending = PendingDecision<DeadLetterRecord>;

/** One dead letter: why it died, what it was about, what can be done. */
export async function deadLetterPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, await pendingOf(call), null);
}

/** Takes a decision on it; the sweep applies it within its interval. */
export async function decideDeadLetter(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const pending = await pendingOf(call);
  const taken = await takeDecision(call, pending);
  if ('problem' in taken) return show(call, pending, taken.problem);
  return redirect(`/operator/deadletters/${pending.id}?decision=${taken.id}`);
}

async function pendingOf({ deps, params }: SignedCall<ConsoleDeps>): Promise<Pending> {
  return (await pendingDeadLetter(deps.db, params['id'] ?? '')) ?? notFound();
}

function show(call: SignedCall<ConsoleDeps>, pending: Pending, problem: DecisionProblem | null) {
  return subjectPage(call, subjectOf(call.view, pending), problem);
}

function subjectOf(view: View, pending: Pending): Subject {
  const { record } = pending;
  return {
    ...{ pending, book: record.book, state: record.closedHow ?? 'open' },
    title: `${view.t('dead_letter')} ${record.id}`,
    crumb: { href: '/operator/deadletters', word: 'nav_dead_letters' },
    more: record.reason,
    facts: [
      { name: 'col_reason', value: record.reason },
      {
        name: 'col_about',
        value:
          record.subjectRef === null ? null : (
            <a href={`/operator/search?${new URLSearchParams({ q: record.subjectRef }).toString()}`}>
              {record.subjectType} {record.subjectRef}
            </a>
          ),
      },
      { name: 'col_provider', value: record.provider, more: record.endpoint },
      { name: 'col_attempts', value: `${record.attempts}` },
      { name: 'col_replays', value: `${record.replays}` },
      { name: 'fact_notification', value: <a href={`/operator/trace/${record.inboxId}`}>{record.inboxId}</a> },
      { name: 'col_created', value: <Moment view={view} at={record.createdAt} /> },
      { name: 'fact_closed', value: record.closedAt && <Moment view={view} at={record.closedAt} /> },
    ],
    workflowId: null,
    action: `/operator/deadletters/${record.id}/decisions`,
  };
}
