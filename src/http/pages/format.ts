import type { View } from './view.js';

const NO_BREAK = '\u00a0';
const MINUS = '\u2212';

/** A decimal string, grouped as the language does, with every digit it has: whole part (with sign) and the rest. */
export function formatDecimal(
  view: View,
  text: string,
  options: { signed?: boolean } = {},
): { whole: string; minor: string } {
  const [, sign = '', digits = text, fraction = ''] = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? [];
  const [group, point] = view.lang === 'ru' ? [NO_BREAK, ','] : [',', '.'];
  const grouped = digits.replaceAll(/\B(?=(?:[0-9]{3})+$)/g, group);
  const mark = sign === '-' ? MINUS : options.signed && /[1-9]/.test(text) ? '+' : '';
  return { whole: `${mark}${grouped}`, minor: fraction === '' ? '' : `${point}${fraction}` };
}

/** A moment of the reader's zone, which it names: `26 Nov 2026, 14:32:00 UTC`. */
export function formatTime(view: View, at: Date): string {
  const parts = new Intl.DateTimeFormat(view.lang === 'ru' ? 'ru' : 'en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZone: view.zone,
    timeZoneName: 'short',
  }).formatToParts(at);
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  const day = `${of('day')} ${of('month')} ${of('year')}`;
  return `${day}, ${of('hour')}:${of('minute')}:${of('second')} ${of('timeZoneName')}`;
}

/** The same for a table whose head names the zone, without a year that is this one: `26 Nov 14:32:00`. */
export function formatShortTime(view: View, at: Date): string {
  const [day = '', time = ''] = formatTime(view, at).split(', ');
  const [thisYear] = formatTime(view, view.now).split(', ');
  const year = / (\d+)$/.exec(day)?.[1] ?? '';
  return `${thisYear?.endsWith(` ${year}`) ? day.slice(0, -year.length - 1) : day} ${time.split(' ')[0]}`;
}

const UNITS = [
  ['span_days', 86_400_000],
  ['span_hours', 3_600_000],
  ['span_minutes', 60_000],
  ['span_seconds', 1_000],
] as const;

/** A span in words, in its two largest units: `3 h 12 min`. */
export function formatSpan(view: View, ms: number): string {
  const at = UNITS.findIndex(([, size]) => ms >= size);
  if (at === -1) return view.t('span_seconds', { n: 0 });
  const shown = UNITS.slice(at, at + 2);
  let rest = ms;
  const texts = shown.map(([word, size]) => {
    const n = Math.floor(rest / size);
    rest -= n * size;
    return n === 0 ? '' : view.t(word, { n });
  });
  return texts.filter((text) => text !== '').join(NO_BREAK);
}

/** `PT41M`, as an attribute has it. */
export function isoSpan(ms: number): string {
  const minutes = Math.floor(Math.max(ms, 0) / 60_000);
  const hours = Math.floor(minutes / 60);
  return `PT${hours > 0 ? `${hours}H` : ''}${minutes % 60}M`;
}
