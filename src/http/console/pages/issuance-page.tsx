import { type IssuanceRecord, toIssuance } from '../../../contracts/card.js';
import { isLinkedCard } from '../../../contracts/decision.js';
import { readCard } from '../../../db/cards.js';
import { readMerchantNames } from '../../../db/names.js';
import { type PendingDecision, pendingIssuance } from '../../../db/pending-decisions.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { TextField } from '../../pages/parts/field.js';
import { Ago, Moment } from '../../pages/parts/moment.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { redirect } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { ConsoleDeps } from '../console-deps.js';
import { type DecisionProblem, takeDecision } from '../take-decision.js';
import { type Subject, subjectPage } from './subject-page.js';

type Pending = PendingDecision<IssuanceRecord>;
type Card = Awaited<ReturnType<typeof readCard>>;

/** One issuance and its card; an id of a card shows its newest issuance. */
export async function issuancePage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, await pendingOf(call), null);
}

/** Takes a decision on it, and shows the page again with what came of that. */
export async function decideIssuance(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const pending = await pendingOf(call);
  const taken = await takeDecision(call, pending, async (choice) => {
    if (choice !== 'link') return null;
    const card = call.form.text('link');
    return isLinkedCard(card) ? card : { refused: 'decide_link_bad' };
  });
  if ('problem' in taken) return show(call, pending, taken.problem);
  await call.deps.nudge.issuance({ workflowId: pending.record.workflowId, traceId: call.traceId });
  return redirect(`/operator/issuances/${pending.id}?decision=${taken.id}`);
}

async function pendingOf({ deps, params }: SignedCall<ConsoleDeps>): Promise<Pending> {
  return (await pendingIssuance(deps.db, params['id'] ?? '')) ?? notFound();
}

async function show(call: SignedCall<ConsoleDeps>, pending: Pending, problem: DecisionProblem | null) {
  const { merchantId, cardId } = pending.record;
  const [names, card] = await Promise.all([
    readMerchantNames(call.deps.db, [merchantId]),
    readCard(call.deps.db, cardId),
  ]);
  return subjectPage(
    call,
    subjectOf(call.view, {
      ...{ pending, card, merchant: names.get(merchantId) ?? merchantId },
      link: call.form.text('link'),
    }),
    problem,
  );
}

function subjectOf(view: View, of: { pending: Pending; card: Card; merchant: string; link: string }): Subject {
  const { pending, card, merchant } = of;
  const { record } = pending;
  const { load } = toIssuance(record);
  return {
    ...{ pending, book: record.book, state: record.state },
    title: `${view.t('issuance')} ${record.id}`,
    crumb: { href: '/operator/issuances', word: 'nav_issuances' },
    more: (
      <>
        <a href={`/operator/merchants/${record.merchantId}`}>{merchant}</a> · <Amount view={view} {...load} big />
      </>
    ),
    ...(record.state === 'unknown'
      ? { notice: { tone: 'unk', title: 'unknown_title', text: 'unknown_text' } as const }
      : {}),
    facts: factsOf(view, record, card),
    workflowId: record.workflowId,
    action: `/operator/issuances/${record.id}/decisions`,
    terms: {
      field: (choice, error) =>
        choice === 'link' ? (
          <TextField
            {...{ id: 'link', value: of.link, error }}
            label={view.t('choice_issuance_link_field')}
            hint={view.t('decide_link_bad')}
          />
        ) : undefined,
    },
  };
}

function factsOf(view: View, record: IssuanceRecord, card: Card): Subject['facts'] {
  const { load, fee } = toIssuance(record);
  return [
    {
      name: 'col_card',
      value: <a href={`/operator/issuances/${card.id}`}>{card.id}</a>,
      more: (
        <>
          <StateMark view={view} state={card.state} /> {card.last4 === null ? null : `···· ${card.last4}`}
        </>
      ),
    },
    { name: 'fact_held', value: <Amount view={view} {...load} />, more: <Amount view={view} {...fee} /> },
    { name: 'col_product', value: record.product },
    { name: 'col_cardholder', value: <a href={`/operator/trace/${record.cardholderId}`}>{record.cardholderId}</a> },
    { name: 'fact_reference', value: <span class="id">{record.id}</span> },
    { name: 'fact_card_there', value: record.providerRef, more: record.providerStatus },
    { name: 'fact_declined', value: record.declineReason },
    { name: 'col_reason', value: record.reason },
    { name: 'fact_flag', value: record.flag },
    { name: 'fact_contradiction', value: record.contradiction },
    { name: 'fact_accepted', value: record.acceptedContradiction },
    { name: 'fact_looks', value: `${record.looks}` },
    { name: 'fact_generation', value: `${record.generation}`, more: `${view.t('fact_version')} ${record.version}` },
    { name: 'fact_submitted', value: record.submittedAt && <Moment view={view} at={record.submittedAt} /> },
    { name: 'col_created', value: <Moment view={view} at={record.createdAt} /> },
    {
      name: 'col_last_read',
      value: <Moment view={view} at={record.lastReadAt} />,
      more: <Ago view={view} at={record.lastReadAt} />,
    },
  ];
}
