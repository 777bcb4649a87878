import { withdrawalWorkflowId } from '../../../contracts/ids.js';
import { toWithdrawal, type WithdrawalRecord } from '../../../contracts/withdrawal.js';
import { readLogins, readMerchantNames } from '../../../db/names.js';
import { type PendingDecision, pendingWithdrawal } from '../../../db/pending-decisions.js';
import { noteRefusedDecision, readProofFile, readWithdrawalFacts } from '../../../db/withdrawal-facts.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { Moment } from '../../pages/parts/moment.js';
import { redirect } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { ConsoleDeps } from '../console-deps.js';
import { readStepUp, type StepUpState } from '../step-up.js';
import { type DecisionProblem, takeDecision } from '../take-decision.js';
import { withdrawalArgument, withdrawalTerms } from '../withdrawal-decision.js';
import { Evidence, type ShownWithdrawal } from '../withdrawal-evidence.js';
import { type Subject, subjectPage } from './subject-page.js';

/** One withdrawal: what was asked for, by whom, who approved it, how it was paid. */
export async function withdrawalPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, await pendingOf(call), null);
}

/** Takes a decision on it, with the proof that it hands in, and shows the page again with what came of that. */
export async function decideWithdrawal(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const pending = await pendingOf(call);
  const { id, book, merchantId } = pending.record;
  const { routes } = await readWithdrawalFacts(call.deps.db, id);
  const taken = await takeDecision(call, pending, withdrawalArgument(call, { id, routes }));
  if ('problem' in taken) {
    if (taken.problem.status === 403) {
      const of = { withdrawalId: id, userId: call.session.userId, traceId: call.traceId };
      await noteRefusedDecision(call.deps.db, { ...of, why: call.form.text('choice').slice(0, 20) });
    }
    return show(call, pending, taken.problem);
  }
  await call.deps.nudge.withdrawal({ id, book, merchantId, traceId: call.traceId });
  return redirect(`/operator/withdrawals/${id}?decision=${taken.id}`);
}

/** The file of a proof, to be saved: never shown in our own pages. */
export async function proofFile({ deps, params }: SignedCall<ConsoleDeps>): Promise<Response> {
  const of = { withdrawalId: params['id'] ?? '', id: params['proof'] ?? '' };
  const file = (await readProofFile(deps.db, of)) ?? notFound();
  return new Response(new Uint8Array(file.bytes), {
    headers: {
      'content-type': file.type,
      'content-disposition': `attachment; filename="${of.id}.${file.type.split('/')[1] ?? 'bin'}"`,
    },
  });
}

type Pending = PendingDecision<WithdrawalRecord>;

async function pendingOf({ deps, params }: SignedCall<ConsoleDeps>): Promise<Pending> {
  return (await pendingWithdrawal(deps.db, params['id'] ?? '')) ?? notFound();
}

async function show(call: SignedCall<ConsoleDeps>, pending: Pending, problem: DecisionProblem | null) {
  const { db } = call.deps;
  const { record } = pending;
  const facts = await readWithdrawalFacts(db, record.id);
  const people = [...facts.terms.map((row) => row.requestedBy), ...facts.approvedBy];
  const [merchants, logins, stepUp] = await Promise.all([
    readMerchantNames(db, [record.merchantId]),
    readLogins(db, [...people, ...facts.proofs.map(({ addedBy }) => addedBy)]),
    readStepUp(call),
  ]);
  const merchant = merchants.get(record.merchantId) ?? record.merchantId;
  return subjectPage(call, subjectOf(call, { pending, facts, merchant, logins, stepUp }), problem);
}

function subjectOf(
  call: SignedCall<ConsoleDeps>,
  shown: ShownWithdrawal & { pending: Pending; stepUp: StepUpState },
): Subject {
  const { view } = call;
  const { pending, facts, merchant, stepUp } = shown;
  const { record } = pending;
  const { amount } = toWithdrawal(record);
  return {
    ...{ pending, book: record.book, state: record.state },
    title: `${view.t('withdrawal')} ${record.id}`,
    crumb: { href: '/operator/withdrawals', word: 'nav_withdrawals' },
    more: (
      <>
        <a href={`/operator/merchants/${record.merchantId}`}>{merchant}</a> · <Amount view={view} {...amount} big />
      </>
    ),
    ...(record.state === 'unknown'
      ? { notice: { tone: 'unk', title: 'payout_unknown_title', text: 'payout_unknown_text' } as const }
      : {}),
    facts: factsOf(view, record),
    evidence: <Evidence view={view} record={record} shown={shown} />,
    workflowId: withdrawalWorkflowId(record),
    action: `/operator/withdrawals/${record.id}/decisions`,
    terms: withdrawalTerms(call, facts, stepUp),
  };
}

function factsOf(view: View, record: WithdrawalRecord): Subject['facts'] {
  const { fee } = toWithdrawal(record);
  const { payoutFeeAmount, payoutFeeAsset } = record;
  return [
    { name: 'col_fee', value: <Amount view={view} {...fee} />, more: view.t('fee_quoted') },
    { name: 'col_destination', value: <span class="addr">{record.address}</span>, more: record.tag },
    { name: 'col_network', value: record.network },
    { name: 'fact_route', value: record.route === null ? null : view.named('route', record.route) },
    { name: 'fact_reference_own', value: record.reference },
    { name: 'fact_payout', value: record.payoutRef, more: record.payoutStatus },
    { name: 'col_hash', value: record.transactionHash && <span class="addr">{record.transactionHash}</span> },
    {
      name: 'fact_payout_fee',
      value: payoutFeeAmount !== null && payoutFeeAsset !== null && (
        <Amount view={view} {...toWithdrawal({ ...record, amount: payoutFeeAmount, asset: payoutFeeAsset }).amount} />
      ),
    },
    { name: 'col_reason', value: record.reason },
    { name: 'fact_flag', value: record.flag === null ? null : view.named('flag', record.flag) },
    { name: 'col_created', value: <Moment view={view} at={record.createdAt} /> },
    {
      name: 'fact_expires',
      value: record.state === 'requested' ? <Moment view={view} at={record.expiresAt} /> : null,
    },
    { name: 'fact_submitted', value: record.submittedAt && <Moment view={view} at={record.submittedAt} /> },
    { name: 'fact_version', value: `${record.version}` },
  ];
}
