import { formatDecimal } from '../format.js';
import type { View } from '../view.js';

/** An amount with every digit its asset has, grouped as the language does; the minor digits are quieter. */
export function Amount(of: { view: View; amount: string; asset?: string | null; signed?: boolean; big?: boolean }) {
  const { view, amount, asset = null, signed = false, big = false } = of;
  const { whole, minor } = formatDecimal(view, amount, { signed });
  const incoming = signed && whole.startsWith('+');
  return (
    <data class={`amt${big ? ' amt--big' : ''}${incoming ? ' amt--in' : ''}`} value={amount}>
      {whole}
      <span class="mi">{minor}</span>
      {asset === null ? null : <abbr>{asset}</abbr>}
    </data>
  );
}

/** Sums of different assets, which are never one figure. */
export function Sums({ view, sums }: { view: View; sums: readonly { amount: string; asset: string }[] }) {
  if (sums.length === 0) return <span class="faint">–</span>;
  return (
    <span class="sums">
      {sums.map(({ amount, asset }) => (
        <Amount view={view} amount={amount} asset={asset} />
      ))}
    </span>
  );
}
