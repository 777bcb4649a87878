import { badRequest } from './requests.js';

export interface ChangeFeed {
  /** Puts the id at the end, also when it stands there already: a changed thing appears again. */
  touch(id: string): void;
  /** Ids after the cursor (absent: from the beginning), oldest change first, and the cursor behind the last of them. */
  page(options: { after: string | undefined; limit: number }): { ids: string[]; nextCursor: string; hasMore: boolean };
  clear(): void;
  /** Ids with their positions, oldest first: what `restore` takes after a restart. */
  positions(): readonly (readonly [id: string, position: number])[];
  restore(positions: unknown): void;
}

const PREFIX = 'c1.';

/**
 * A feed of changes with an opaque cursor. Positions start at the clock and never go back, so that a cursor given out
 * before a reset or a restart of the simulator hides nothing that happened after it.
 */
export function createChangeFeed(): ChangeFeed {
  let log: { position: number; id: string }[] = [];
  const latest = new Map<string, number>();
  let last = Date.now() * 1_000;
  return {
    touch(id) {
      last += 1;
      latest.set(id, last);
      log.push({ position: last, id });
      if (log.length > 2 * latest.size + 1_000) log = log.filter((entry) => latest.get(entry.id) === entry.position);
    },
    page({ after, limit }) {
      const start = after === undefined ? 0 : positionOf(after);
      const ids: string[] = [];
      let position = start;
      for (let index = firstAfter(log, start); index < log.length; index += 1) {
        const entry = log[index];
        if (!entry || latest.get(entry.id) !== entry.position) continue;
        if (ids.length === limit) return { ids, nextCursor: cursorOf(position), hasMore: true };
        ids.push(entry.id);
        position = entry.position;
      }
      return { ids, nextCursor: cursorOf(position), hasMore: false };
    },
    clear() {
      log = [];
      latest.clear();
    },
    positions: () => log.flatMap(({ id, position }) => (latest.get(id) === position ? [[id, position] as const] : [])),
    restore(positions) {
      for (const entry of Array.isArray(positions) ? positions : []) {
        const [id, position]: unknown[] = Array.isArray(entry) ? entry : [];
        if (typeof id !== 'string' || typeof position !== 'number') continue;
        latest.set(id, position);
        log.push({ position, id });
        last = Math.max(last, position);
      }
    },
  };
}

/** `limit` of a query as a whole number from 1 to `max`; absent means `fallback`. */
export function readLimit(text: string | undefined, { fallback, max }: { fallback: number; max: number }): number {
  if (text === undefined) return fallback;
  const limit = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > max) throw badRequest(`limit must be from 1 to ${max}`);
  return limit;
}

function firstAfter(log: readonly { position: number }[], position: number): number {
  let low = 0;
  let high = log.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((log[middle]?.position ?? 0) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

function cursorOf(position: number): string {
  return Buffer.from(`${PREFIX}${position}`).toString('base64url');
}

function positionOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString();
  const position = text.startsWith(PREFIX) ? Number(text.slice(PREFIX.length)) : Number.NaN;
  if (!Number.isSafeInteger(position) || position < 0) throw badRequest('after is no cursor of this feed');
  return position;
}
