import { raw } from 'hono/html';

/** What is drawn inside a square of 16; colours are the stylesheet's. */
const ICONS = {
  activity: '<rect x="2" y="3" width="12" height="10" rx="1.5"/><path d="M5 6.2L7 8l-2 1.8M8.5 10h2.5"/>',
  close: '<path d="M4 4l8 8M12 4l-8 8"/>',
  down: '<path d="M8 3v9.5M4.2 8.8L8 12.5l3.8-3.7"/>',
  download: '<path d="M8 2.5V10M4.8 7L8 10.2 11.2 7M2.5 13.5h11"/>',
  external: '<path d="M9.5 2.5h4v4M13.5 2.5l-6 6M11.5 9.5v3a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1h3"/>',
  failed: '<path d="M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4z"/><path d="M6 6l4 4M10 6l-4 4"/>',
  key: '<circle cx="5.5" cy="10.5" r="3"/><path d="M7.7 8.3l5.8-5.8M11 5l1.8 1.8"/>',
  ledger: '<path d="M2.5 4h11M8 4v9"/>',
  left: '<path d="M9.8 3.8L5.6 8l4.2 4.2"/>',
  lock: '<rect x="3.5" y="7" width="9" height="6.5" rx="1.2"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
  menu: '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>',
  move: '<path d="M2.5 5.5h9M9 3l2.5 2.5L9 8M13.5 10.5h-9M7 8l-2.5 2.5L7 13"/>',
  off: '<circle cx="8" cy="8" r="6.25"/><path d="M5.3 8h5.4"/>',
  ok: '<circle cx="8" cy="8" r="6.25"/><path d="M5.3 8.2l1.9 1.9 3.5-4.1"/>',
  person: '<circle cx="8" cy="5" r="2.75"/><path d="M2.6 14c.5-2.8 2.6-4.4 5.4-4.4s4.9 1.6 5.4 4.4z"/>',
  read: '<path d="M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 2v3h-3"/>',
  right: '<path d="M6.2 3.8L10.4 8l-4.2 4.2"/>',
  search: '<circle cx="7" cy="7" r="4.5"/><path d="M10.4 10.4L14 14"/>',
  sort: '<path d="M5 6.3l3-3 3 3M5 9.7l3 3 3-3"/>',
  test: '<path d="M6 2h4M6.7 2v4L3.1 12.5c-.5.9.1 1.5.9 1.5h8c.8 0 1.4-.6.9-1.5L9.3 6V2M5 10h6"/>',
  unknown:
    '<circle cx="8" cy="8" r="6.25" stroke-dasharray="2.3 1.63"/>' +
    '<path d="M6.3 6.4a1.7 1.7 0 1 1 2.5 1.5c-.6.3-.8.6-.8 1.2"/><path d="M8 11.2v.05"/>',
  wait: '<circle cx="8" cy="8" r="6.25"/><path d="M8 4.7V8l2.1 1.5"/>',
  warn: '<path d="M8 2.2l6.2 11.2H1.8z"/><path d="M8 6.6v3M8 11.5v.05"/>',
  webhook: '<path d="M9.5 3H12a1.5 1.5 0 0 1 1.5 1.5v7A1.5 1.5 0 0 1 12 13H9.5M2 8h7M6.2 5.2L9 8l-2.8 2.8"/>',
} as const;
export type IconName = keyof typeof ICONS;

const SYMBOLS = Object.entries(ICONS).map(([name, drawn]) => {
  return `<symbol id="i-${name}" viewBox="0 0 16 16">${drawn}</symbol>`;
});

/** The symbols, once on each page. */
export function Sprite() {
  return raw(`<svg class="sprite" aria-hidden="true">${SYMBOLS.join('')}</svg>`);
}

/** A sign beside a word, which alone says what it means. */
export function Icon({ name, tone }: { name: IconName; tone?: string }) {
  return (
    <svg class={tone === undefined ? 'icon' : `icon ${tone}`} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

export function Brand({ href, name, place }: { href: string; name: string; place: string }) {
  return (
    <a class="brand" href={href}>
      <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
        <rect class="mark-box" width="24" height="24" rx="6" />
        <path class="mark-bar" d="M6 8h9v2.5H6zM9 13.5h9V16H9z" />
      </svg>
      {name} <small>{place}</small>
    </a>
  );
}
