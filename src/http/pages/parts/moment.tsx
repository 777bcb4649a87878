import { formatShortTime, formatSpan, formatTime, isoSpan } from '../format.js';
import type { View } from '../view.js';
import { Icon } from './icon.js';

/** A moment in the reader's zone, with its zone. */
export function Moment({ view, at }: { view: View; at: Date | string | null }) {
  if (at === null) return <span class="faint">–</span>;
  const moment = new Date(at);
  return <time datetime={moment.toISOString()}>{formatTime(view, moment)}</time>;
}

/** The same in a table, whose head names the zone. */
export function ShortMoment({ view, at }: { view: View; at: Date | string | null }) {
  if (at === null) return <span class="faint">–</span>;
  const moment = new Date(at);
  return <time datetime={moment.toISOString()}>{formatShortTime(view, moment)}</time>;
}

/** How long ago, in words; the moment itself stands in its attribute. */
export function Ago({ view, at }: { view: View; at: Date | string | null }) {
  if (at === null) return <span class="faint">{view.t('never')}</span>;
  const moment = new Date(at);
  const span = formatSpan(view, view.now.getTime() - moment.getTime());
  return <time datetime={moment.toISOString()}>{view.t('ago', { span })}</time>;
}

/** The age of what waits, beside what it may take; past it the age says so by a sign and its colour. */
export function Age({ view, since, budgetMs }: { view: View; since: Date | string | null; budgetMs?: number }) {
  if (since === null) return <span class="faint">–</span>;
  const ms = Math.max(view.now.getTime() - new Date(since).getTime(), 0);
  const span = <time datetime={isoSpan(ms)}>{formatSpan(view, ms)}</time>;
  if (budgetMs === undefined) return span;
  return (
    <>
      {ms > budgetMs ? (
        <span class="over">
          <Icon name="warn" />
          {span}
          <span class="vh"> {view.t('past_budget')}</span>
        </span>
      ) : (
        span
      )}{' '}
      <span class="of">{view.t('of_budget', { span: formatSpan(view, budgetMs) })}</span>
    </>
  );
}

/** When the figures near it were read. */
export function Fresh({ view, at }: { view: View; at: Date }) {
  return (
    <span class="fresh">
      <Icon name="read" />
      {view.t('read_at')} <Moment view={view} at={at} />
    </span>
  );
}
