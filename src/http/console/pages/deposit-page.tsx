import { type DepositRecord, toDeposit } from '../../../contracts/deposit.js';
import { depositWorkflowId } from '../../../contracts/ids.js';
import { readMerchantNames } from '../../../db/names.js';
import { type PendingDecision, pendingDeposit } from '../../../db/pending-decisions.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { Ago, Moment } from '../../pages/parts/moment.js';
import { redirect } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { ConsoleDeps } from '../console-deps.js';
import { type DecisionProblem, takeDecision } from '../take-decision.js';
import { type Subject, subjectPage } from './subject-page.js';

type Pending = PendingDecision<DepositRecord>;

/** One deposit: what is known of it, what can be decided, what was posted, how it came to this. */
export async function depositPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, await pendingOf(call), null);
}

/** Takes a decision on it, and shows the page again with what came of that. */
export async function decideDeposit(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const pending = await pendingOf(call);
  const taken = await takeDecision(call, pending);
  if ('problem' in taken) return show(call, pending, taken.problem);
  const { book, provider, providerAccount: account, providerRef: ref } = pending.record;
  if (provider === 'custody') await call.deps.nudge.deposit({ book, provider, account, ref, traceId: call.traceId });
  return redirect(`/operator/deposits/${pending.id}?decision=${taken.id}`);
}

async function pendingOf({ deps, params }: SignedCall<ConsoleDeps>): Promise<Pending> {
  return (await pendingDeposit(deps.db, params['id'] ?? '')) ?? notFound();
}

async function show(call: SignedCall<ConsoleDeps>, pending: Pending, problem: DecisionProblem | null) {
  const { record } = pending;
  const names = await readMerchantNames(call.deps.db, [record.merchantId]);
  return subjectPage(call, subjectOf(call.view, pending, names.get(record.merchantId) ?? record.merchantId), problem);
}

function subjectOf(view: View, pending: Pending, merchant: string): Subject {
  const { record } = pending;
  const { provider, providerRef: ref, book } = record;
  return {
    ...{ pending, book, state: record.state },
    title: `${view.t('deposit')} ${record.id}`,
    crumb: { href: '/operator/deposits', word: 'nav_deposits' },
    more: (
      <>
        <a href={`/operator/merchants/${record.merchantId}`}>{merchant}</a> ·{' '}
        <Amount view={view} amount={record.reportedText} asset={record.reportedAsset} big />
      </>
    ),
    ...(record.state === 'parked'
      ? { notice: { tone: 'person', title: 'parked_title', text: 'parked_text' } as const }
      : {}),
    facts: factsOf(view, record),
    workflowId: depositWorkflowId({ book, provider, ref }),
    action: `/operator/deposits/${record.id}/decisions`,
  };
}

function factsOf(view: View, record: DepositRecord): Subject['facts'] {
  const { owner, transaction, credited, provider_status, deposit_address_id } = toDeposit(record);
  const place = transaction.position === null ? null : `#${transaction.position}`;
  return [
    {
      name: 'col_owner',
      value: owner.ref ?? owner.id,
      more: <a href={`/operator/trace/${owner.id}`}>{owner.id}</a>,
    },
    { name: 'col_network', value: record.network },
    { name: 'col_address', value: <a href={`/operator/trace/${deposit_address_id}`}>{deposit_address_id}</a> },
    {
      name: 'col_hash',
      value: transaction.hash === null ? null : <span class="addr">{transaction.hash}</span>,
      more: place,
    },
    { name: 'col_reported', value: <Amount view={view} amount={record.reportedText} asset={record.reportedAsset} /> },
    { name: 'col_credited', value: credited === null ? null : <Amount view={view} {...credited} /> },
    { name: 'col_provider', value: `${record.provider} ${record.providerRef}`, more: provider_status },
    { name: 'col_reason', value: record.reason },
    { name: 'fact_flag', value: record.flag },
    { name: 'fact_contradiction', value: record.contradiction },
    { name: 'fact_accepted', value: record.acceptedContradiction },
    { name: 'fact_generation', value: `${record.generation}`, more: `${view.t('fact_version')} ${record.version}` },
    { name: 'col_created', value: <Moment view={view} at={record.createdAt} /> },
    {
      name: 'col_last_read',
      value: <Moment view={view} at={record.lastReadAt} />,
      more: <Ago view={view} at={record.lastReadAt} />,
    },
    { name: 'fact_final', value: record.finalAt === null ? null : <Moment view={view} at={record.finalAt} /> },
  ];
}
