import { toOwner } from '../../../contracts/values.js';
import { toWallet, type WalletResource } from '../../../contracts/wallet.js';
import { walletId } from '../../../db/new-id.js';
import { readWallet } from '../../../db/wallets.js';
import type { SignedCall } from '../../pages/call.js';
import { Amount } from '../../pages/parts/amount.js';
import { Head } from '../../pages/parts/head.js';
import { Icon } from '../../pages/parts/icon.js';
import { Moment } from '../../pages/parts/moment.js';
import { respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';

/** What the merchant has, asset by asset. */
export async function walletPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, view } = call;
  const { merchantId, book } = scopeOf(call);
  const { balances, asOf } = await readWallet(deps.db, { merchantId, book, customerId: null });
  const owner = toOwner({ merchantId, customerId: null, customerRef: null });
  const wallet = toWallet({ id: walletId(book, merchantId), owner, balances, asOf });
  return respond(
    call,
    { title: view.t('nav_wallet') },
    <>
      <Head
        view={view}
        title={view.t('nav_wallet')}
        end={
          <span class="fresh">
            <Icon name="read" />
            {view.t('journal_read')} <Moment view={view} at={wallet.as_of} />
          </span>
        }
      />
      {wallet.balances.length === 0 ? (
        <p class="muted">{view.t('wallet_empty')}</p>
      ) : (
        <ul class="wallets" aria-label={view.t('balances')}>
          {wallet.balances.map((balance) => (
            <Balance view={view} balance={balance} />
          ))}
        </ul>
      )}
    </>,
  );
}

const LINES = [
  ['held', 'held'],
  ['incoming', 'incoming'],
  ['on_cards', 'on_cards'],
  ['receivable', 'owed'],
] as const satisfies readonly (readonly [keyof WalletResource['balances'][number], Word])[];

function Balance({ view, balance }: { view: View; balance: WalletResource['balances'][number] }) {
  const { asset, available } = balance;
  return (
    <li>
      <h2>
        {asset} <span>{view.t('available')}</span>
      </h2>
      <p>
        <Amount view={view} amount={available.amount} big />
      </p>
      {LINES.map(([member, word]) => (
        <p class="held">
          <span>{view.t(word)}</span>
          <Amount view={view} amount={balance[member].amount} />
        </p>
      ))}
      <p>
        <a href={`/cabinet/statement?${new URLSearchParams({ asset }).toString()}`}>{view.t('wallet_statement')}</a>
      </p>
    </li>
  );
}
