import { toWithdrawal, type WithdrawalRecord } from '../../../contracts/withdrawal.js';
import { cancelWithdrawal, editWithdrawal } from '../../../db/request-withdrawal.js';
import { readWallet } from '../../../db/wallets.js';
import { findOwnWithdrawal } from '../../../db/withdrawals.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { ActButton } from '../../pages/parts/act-button.js';
import { Amount } from '../../pages/parts/amount.js';
import { Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Moment } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { redirect, respond } from '../../pages/respond.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';
import { WithdrawalForm } from '../withdrawal-fields.js';
import { type Entered, nothingEntered, readTargets, readWithdrawalForm, refusedBy } from '../withdrawal-form.js';

/** One withdrawal of the merchant, and while nobody has decided on it, what he can change. */
export async function withdrawalPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const record = await ownOf(call);
  const { asset, destinationId, reference } = record;
  const { amount } = toWithdrawal(record).amount;
  const now = { target: `${destinationId} ${asset}`, amount, reference: reference ?? '' };
  return show(call, record, { ...nothingEntered(), ...now });
}

/** Other terms: what was approved before is void by that. */
export async function editWithdrawalAct(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, session, traceId, form } = call;
  const record = await ownOf(call);
  const { entered, terms } = readWithdrawalForm(call, await targetsOf(call, record));
  if (terms === null) return show(call, record, entered);
  const scope = scopeOf(call);
  const asked = { ...scope, ...terms, userId: session.userId, traceId, id: record.id };
  const answer = await editWithdrawal(deps.db, { ...asked, seenVersion: Number(form.text('version')) || 0 });
  if (answer === 'not_found') notFound();
  if (answer === 'stale')
    return show(call, record, { ...entered, refused: { amount: 'withdrawal_stale' }, status: 409 });
  if (answer !== 'edited') return show(call, record, refusedBy(entered, answer));
  await deps.nudge({ ...scope, id: record.id, traceId });
  return redirect(`/cabinet/withdrawals/${record.id}`);
}

/** Takes the request back, before anybody has decided on it. */
export async function cancelWithdrawalAct(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, session, traceId, form } = call;
  const record = await ownOf(call);
  const scope = scopeOf(call);
  const asked = { ...scope, userId: session.userId, traceId, id: record.id };
  const answer = await cancelWithdrawal(deps.db, { ...asked, seenVersion: Number(form.text('version')) || 0 });
  if (answer === 'not_found') notFound();
  if (answer === 'stale') {
    return show(call, await ownOf(call), { ...nothingEntered(), refused: { amount: 'withdrawal_stale' }, status: 409 });
  }
  await deps.nudge({ ...scope, id: record.id, traceId });
  return redirect(`/cabinet/withdrawals/${record.id}`);
}

async function ownOf(call: SignedCall<CabinetDeps>): Promise<WithdrawalRecord> {
  const id = call.params['id'] ?? '';
  return (await findOwnWithdrawal(call.deps.db, { ...scopeOf(call), id })) ?? notFound();
}

/** An edit keeps the asset: another one is another withdrawal. */
async function targetsOf(call: SignedCall<CabinetDeps>, { asset }: WithdrawalRecord) {
  return (await readTargets(call)).filter(({ offer }) => offer.asset === asset);
}

async function show(call: SignedCall<CabinetDeps>, record: WithdrawalRecord, entered: Entered): Promise<Response> {
  const { view, session, deps } = call;
  const { amount } = toWithdrawal(record);
  const open = record.state === 'requested';
  const targets = open ? await targetsOf(call, record) : [];
  const { balances } = await readWallet(deps.db, { ...scopeOf(call), customerId: null });
  return respond(
    call,
    { title: record.id, status: entered.status },
    <>
      <Head
        view={view}
        title={`${view.t('withdrawal')} ${record.id}`}
        crumb={{ href: '/cabinet/withdrawals', name: view.t('nav_withdrawals') }}
        state={<StateMark view={view} state={record.state} {...(open ? { tone: 'wait' as const } : {})} pill />}
        more={<Amount view={view} {...amount} big />}
      />
      {record.state === 'unknown' ? (
        <Notice tone="unk" title={view.t('payout_unknown_title')}>
          <p>{view.t('payout_unknown_text')}</p>
        </Notice>
      ) : null}
      <Facts view={view} facts={factsOf(call, record)} />
      {open ? (
        <section class="section" aria-labelledby="h-change">
          <div class="section-head">
            <h2 id="h-change">{view.t('withdrawal_change')}</h2>
          </div>
          <p class="muted">{view.t('withdrawal_change_more')}</p>
          <WithdrawalForm
            {...{ call, targets, entered, balances, version: record.version }}
            action={`/cabinet/withdrawals/${record.id}/edit`}
            button={view.t('withdrawal_edit')}
          />
          <ActButton
            csrf={session.csrf}
            action={`/cabinet/withdrawals/${record.id}/cancel`}
            label={view.t('withdrawal_cancel')}
            fields={{ version: String(record.version) }}
            danger
          />
        </section>
      ) : null}
    </>,
  );
}

function factsOf({ view }: SignedCall<CabinetDeps>, record: WithdrawalRecord) {
  const { fee } = toWithdrawal(record);
  return [
    { name: 'col_fee', value: <Amount view={view} {...fee} />, more: view.t('fee_quoted') },
    { name: 'col_destination', value: <span class="addr">{record.address}</span>, more: record.tag },
    { name: 'col_network', value: record.network },
    { name: 'fact_reference_own', value: record.reference },
    { name: 'col_hash', value: record.transactionHash && <span class="addr">{record.transactionHash}</span> },
    { name: 'col_reason', value: record.reason },
    { name: 'col_created', value: <Moment view={view} at={record.createdAt} /> },
    {
      name: 'fact_expires',
      value: record.state === 'requested' ? <Moment view={view} at={record.expiresAt} /> : null,
    },
    {
      name: 'col_movement',
      value: record.movementIds.map((id) => (
        <>
          <a class="id" href={`/cabinet/movements/${id}`}>
            {id}
          </a>{' '}
        </>
      )),
    },
  ] as const;
}
