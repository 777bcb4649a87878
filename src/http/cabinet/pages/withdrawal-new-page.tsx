import { requestWithdrawal } from '../../../db/request-withdrawal.js';
import { readWallet } from '../../../db/wallets.js';
import type { SignedCall } from '../../pages/call.js';
import { Head } from '../../pages/parts/head.js';
import { Icon } from '../../pages/parts/icon.js';
import { Moment } from '../../pages/parts/moment.js';
import { redirect, respond } from '../../pages/respond.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';
import { WithdrawalForm } from '../withdrawal-fields.js';
import {
  type Entered,
  nothingEntered,
  readTargets,
  readWithdrawalForm,
  refusedBy,
  type Target,
} from '../withdrawal-form.js';

/** Where a withdrawal is asked for: what is there, what it costs, and where it may go, before the button. */
export async function newWithdrawalPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  return show(call, await readTargets(call), nothingEntered());
}

/** Asks for it: row, hold and audit in one commit, or the form again with what stands against it. */
export async function requestWithdrawalAct(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, session, traceId } = call;
  const targets = await readTargets(call);
  const { entered, terms } = readWithdrawalForm(call, targets);
  if (terms === null) return show(call, targets, entered);
  const scope = scopeOf(call);
  const asked = { ...scope, ...terms, userId: session.userId, key: entered.key, traceId };
  const { answer, id } = await requestWithdrawal(deps.db, asked);
  if (id === null) {
    if (answer === 'requested' || answer === 'kept') throw new Error('A withdrawal was kept without its id.');
    return show(call, targets, refusedBy(entered, answer));
  }
  await deps.nudge({ ...scope, id, traceId });
  return redirect(`/cabinet/withdrawals/${id}`);
}

async function show(call: SignedCall<CabinetDeps>, targets: readonly Target[], entered: Entered): Promise<Response> {
  const { view, deps } = call;
  const { balances, asOf } = await readWallet(deps.db, { ...scopeOf(call), customerId: null });
  return respond(
    call,
    { title: view.t('withdrawal_request'), status: entered.status },
    <>
      <Head
        view={view}
        title={view.t('withdrawal_request')}
        crumb={{ href: '/cabinet/withdrawals', name: view.t('nav_withdrawals') }}
        end={
          <span class="fresh">
            <Icon name="read" />
            {view.t('journal_read')} <Moment view={view} at={asOf} />
          </span>
        }
      />
      <WithdrawalForm
        {...{ call, targets, entered, balances }}
        action="/cabinet/withdrawals"
        button={view.t('withdrawal_request')}
      />
    </>,
  );
}
