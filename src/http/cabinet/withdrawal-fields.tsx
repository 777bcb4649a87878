import { toAmount } from '../../contracts/values.js';
import type { WalletBalanceRecord } from '../../contracts/wallet.js';
import type { SignedCall } from '../pages/call.js';
import { Amount } from '../pages/parts/amount.js';
import { TextField } from '../pages/parts/field.js';
import { Form } from '../pages/parts/form.js';
import { Icon } from '../pages/parts/icon.js';
import { Moment } from '../pages/parts/moment.js';
import { Notice } from '../pages/parts/notice.js';
import type { View } from '../pages/view.js';
import type { CabinetDeps } from './cabinet-deps.js';
import type { Entered, Target } from './withdrawal-form.js';

/** The form of a request or an edit: where to, with the fee of each, and how much. */
export function WithdrawalForm(of: {
  call: SignedCall<CabinetDeps>;
  targets: readonly Target[];
  entered: Entered;
  balances: readonly WalletBalanceRecord[];
  action: string;
  button: string;
  version?: number;
}) {
  const { call, targets, entered, balances, action, button, version } = of;
  const { view, session } = call;
  const error = (name: 'target' | 'amount' | 'reference') => {
    const word = entered.refused[name];
    return word === undefined ? undefined : view.t(word);
  };
  if (targets.length === 0) {
    return (
      <p>
        {view.t('no_destinations')} <a href="/cabinet/destinations">{view.t('nav_destinations')}</a>
      </p>
    );
  }
  return (
    <Form action={action} csrf={session.csrf} class="section form">
      <input type="hidden" name="key" value={entered.key} />
      {version === undefined ? null : <input type="hidden" name="version" value={String(version)} />}
      {Object.keys(entered.refused).length === 0 ? null : (
        <Notice tone="fail" title={view.t('problem_422')} alert>
          <p>
            {Object.values(entered.refused)
              .map((word) => view.t(word))
              .join(' ')}
          </p>
        </Notice>
      )}
      <fieldset class="choices">
        <legend>{view.t('col_destination')}</legend>
        {targets.map((target) => (
          <TargetChoice {...{ view, target, balances }} chosen={entered.target === target.value} />
        ))}
      </fieldset>
      {error('target') === undefined ? null : (
        <p class="err">
          <Icon name="failed" />
          {error('target')}
        </p>
      )}
      <TextField
        {...{ id: 'amount', value: entered.amount, error: error('amount') }}
        label={view.t('col_amount')}
        hint={view.t('withdrawal_amount_hint')}
        required
      />
      <TextField
        {...{ id: 'reference', value: entered.reference, error: error('reference') }}
        label={view.t('fact_reference_own')}
        hint={view.t('withdrawal_reference_hint')}
        maxlength={140}
      />
      <div class="form-end">
        <button type="submit" class="btn btn--main">
          {button}
        </button>
        <span class="small muted">{view.t('withdrawal_what_follows')}</span>
      </div>
    </Form>
  );
}

function TargetChoice(of: { view: View; target: Target; balances: readonly WalletBalanceRecord[]; chosen: boolean }) {
  const { view, target, balances, chosen } = of;
  const { destination, offer, value, fee, cooling } = target;
  const available = balances.find(({ asset }) => asset === offer.asset)?.available ?? 0n;
  const id = value.replace(' ', '-');
  return (
    <div class="choice">
      <label class="choice-name">
        <input
          type="radio"
          name="target"
          id={id}
          value={value}
          required
          checked={chosen}
          disabled={cooling}
          aria-describedby={`${id}-d`}
        />
        {destination.label} · {offer.asset}
      </label>
      <input type="hidden" name={`fee ${value}`} value={fee.amount} />
      <p id={`${id}-d`}>
        <span class="addr">{destination.address}</span> {destination.tag} · {destination.network}
      </p>
      <dl>
        <div>
          <dt>{view.t('available')}</dt>
          <dd>
            <Amount view={view} {...toAmount(available, offer.asset)} />
          </dd>
        </div>
        <div>
          <dt>{view.t('col_fee')}</dt>
          <dd>
            <Amount view={view} {...fee} />
          </dd>
        </div>
        <div>
          <dt>{view.t('smallest')}</dt>
          <dd>
            <Amount view={view} {...toAmount(offer.smallest, offer.asset)} />
          </dd>
        </div>
        {cooling ? (
          <div>
            <dt>{view.t('col_usable_from')}</dt>
            <dd>
              <Moment view={view} at={destination.usableFrom} />
            </dd>
          </div>
        ) : null}
      </dl>
    </div>
  );
}
