import type { Child } from 'hono/jsx';
import { Icon, type IconName } from './icon.js';
import type { Tone } from './state-mark.js';

const ICONS: Readonly<Partial<Record<Tone, IconName>>> = { ok: 'ok', unk: 'unknown', person: 'warn', fail: 'failed' };

/** What a reader must know before anything else; `alert` is read aloud at once. */
export function Notice(of: { tone: Tone; title?: string; alert?: boolean; children?: Child }) {
  const { tone, title, alert = false, children } = of;
  return (
    <div class={`notice notice--${tone}`} role={alert ? 'alert' : 'status'}>
      <Icon name={ICONS[tone] ?? 'wait'} />
      <div>
        {title === undefined ? null : <h2>{title}</h2>}
        {children}
      </div>
    </div>
  );
}

/**
 * What changed between what somebody saw and what is so now.
 * @public A withdrawal's page shows it: the only subject so far whose terms a person edits.
 */
export function Diff(of: { label: string; heads: readonly [string, string, string]; rows: readonly DiffRow[] }) {
  return (
    <section class="scroll" aria-label={of.label} tabindex={0}>
      <table class="diff">
        <thead>
          <tr>
            {of.heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.rows.map(({ name, was, now }) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{was === now ? was : <del>{was}</del>}</td>
              <td>{was === now ? now : <ins>{now}</ins>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export interface DiffRow {
  readonly name: string;
  readonly was: string;
  readonly now: string;
}
