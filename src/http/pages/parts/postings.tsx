import type { EntryRecord, MovementRecord } from '../../../contracts/movement.js';
import { toAmount } from '../../../contracts/values.js';
import { formatDecimal } from '../format.js';
import type { View } from '../view.js';
import { Amount } from './amount.js';
import { StateMark } from './state-mark.js';

interface TAccount {
  readonly name: string;
  readonly owner: string;
  readonly asset: string;
  readonly amounts: readonly bigint[];
}

/** The postings of some movements as T-accounts: what left an account stands at its left, what came at its right. */
export function Postings({ view, movements }: { view: View; movements: readonly MovementRecord[] }) {
  const accounts = accountsOf(movements);
  if (accounts.length === 0) return <p class="muted">{view.t('no_postings')}</p>;
  return (
    <>
      <div class="t-set">
        {accounts.map((account) => (
          <table class="t-account">
            <caption>
              {account.name}
              <small>
                {account.owner} · {account.asset}
              </small>
            </caption>
            <thead>
              <tr>
                <th scope="col">{view.t('debit')}</th>
                <th scope="col">{view.t('credit')}</th>
              </tr>
            </thead>
            <tbody>
              {account.amounts.map((amount) => (
                <tr>
                  <td>{amount < 0n ? <Figure view={view} amount={-amount} asset={account.asset} /> : null}</td>
                  <td>{amount >= 0n ? <Figure view={view} amount={amount} asset={account.asset} /> : null}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
      {sumsOf(accounts).map(({ asset, debit, credit }) => (
        <p class="t-sum">
          <StateMark view={view} state={sumText(view, { asset, debit })} tone={debit === credit ? 'ok' : 'fail'} />
        </p>
      ))}
    </>
  );
}

function Figure({ view, amount, asset }: { view: View; amount: bigint; asset: string }) {
  return <Amount view={view} amount={toAmount(amount, asset).amount} />;
}

function accountsOf(movements: readonly MovementRecord[]): TAccount[] {
  const found = new Map<string, { first: EntryRecord; amounts: bigint[] }>();
  for (const entry of movements.flatMap(({ entries }) => entries)) {
    const key = [entry.kind, entry.merchantId, entry.customerId, entry.ref, entry.asset].join(' ');
    const account = found.get(key) ?? { first: entry, amounts: [] };
    account.amounts.push(entry.amount);
    found.set(key, account);
  }
  return [...found.values()].map(({ first, amounts }) => ({
    name: first.ref === null ? first.kind : `${first.kind} ${first.ref}`,
    owner: first.customerRef ?? first.customerId ?? first.merchantId,
    asset: first.asset,
    amounts,
  }));
}

function sumsOf(accounts: readonly TAccount[]): { asset: string; debit: bigint; credit: bigint }[] {
  return [...new Set(accounts.map(({ asset }) => asset))].map((asset) => {
    const amounts = accounts.filter((account) => account.asset === asset).flatMap((account) => account.amounts);
    const sum = (wanted: (amount: bigint) => boolean) => amounts.filter(wanted).reduce((a, b) => a + b, 0n);
    return { asset, debit: -sum((amount) => amount < 0n), credit: sum((amount) => amount >= 0n) };
  });
}

function sumText(view: View, { asset, debit }: { asset: string; debit: bigint }): string {
  const { whole, minor } = formatDecimal(view, toAmount(debit, asset).amount);
  return view.t('t_equal', { amount: `${whole}${minor}`, asset });
}
