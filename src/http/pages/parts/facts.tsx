import type { Child } from 'hono/jsx';
import type { View } from '../view.js';
import type { Word } from '../words.js';

export interface Fact {
  readonly name: Word;
  /** Null leaves the fact out. */
  readonly value: Child;
  /** A second, quieter line. */
  readonly more?: Child;
}

/** What is known of a subject. */
export function Facts({ view, facts, narrow = false }: { view: View; facts: readonly Fact[]; narrow?: boolean }) {
  const shown = facts.filter(({ value }) => value !== null && value !== undefined && value !== '');
  return (
    <dl class={narrow ? 'facts facts--narrow' : 'facts'}>
      {shown.map(({ name, value, more }) => (
        <div>
          <dt>{view.t(name)}</dt>
          <dd>
            {value}
            {more === undefined || more === null ? null : <span class="sub">{more}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
