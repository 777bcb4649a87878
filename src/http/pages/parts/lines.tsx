import type { Child } from 'hono/jsx';
import { Icon, type IconName } from './icon.js';

export interface Line {
  readonly icon: IconName;
  readonly tone: 'ok' | 'person' | 'fail' | 'wait';
  readonly name: Child;
  readonly end: Child;
  readonly more: Child;
}

/** Short rows with a sign, such as providers and checks. */
export function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <ul class="lines">
      {lines.map(({ icon, tone, name, end, more }) => (
        <li>
          <Icon name={icon} tone={tone} />
          <span>{name}</span>
          <span class="end">{end}</span>
          <span class="sub">{more}</span>
        </li>
      ))}
    </ul>
  );
}
