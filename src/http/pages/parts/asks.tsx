import type { Child } from 'hono/jsx';
import { formatSpan } from '../format.js';
import type { View } from '../view.js';
import { Sums } from './amount.js';
import { StateMark, type Tone } from './state-mark.js';

export interface Ask {
  readonly href: string;
  /** A word of a state or of its own, with its sign. */
  readonly state: string;
  readonly tone: Tone;
  readonly count: number;
  /** What is counted. */
  readonly of: string;
  readonly oldest: Date | null;
  readonly sums: readonly { readonly amount: string; readonly asset: string }[];
  readonly more?: Child;
}

/** The questions of the home page, each a figure and a link. */
export function Asks({ view, label, asks }: { view: View; label: string; asks: readonly Ask[] }) {
  return (
    <ul class="asks" aria-label={label}>
      {asks.map((ask) => (
        <li>
          <a class="ask" href={ask.href}>
            <span class="ask-q">
              <StateMark view={view} state={ask.state} tone={ask.count === 0 ? 'ok' : ask.tone} />
            </span>
            <span class="ask-n">
              {ask.count} <small>{ask.of}</small>
            </span>
            <span class="ask-more">
              {ask.oldest === null ? null : view.t('oldest', { span: formatSpan(view, ageOf(view, ask.oldest)) })}
              {ask.more}
            </span>
            {ask.sums.length === 0 ? null : (
              <span class="ask-sums">
                <Sums view={view} sums={ask.sums} />
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}

function ageOf(view: View, since: Date): number {
  return Math.max(view.now.getTime() - since.getTime(), 0);
}
