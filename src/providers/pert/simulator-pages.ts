import type { OwnFault, OwnFaults } from '../simulator-kit/faults.js';
import { badRequest, SimulatorRefusal } from '../simulator-kit/requests.js';
import { cursorOf, noCursor, positionOf } from './simulator-cursor.js';
import type { Ledger } from './simulator-ledger.js';
import { textOfEntry } from './simulator-texts.js';

export const CHANGES_PATH = '/transactions/changes';

const NO_CURSORS = ['absent', 'null', ''];

/** What only a journal of changes can do wrong. */
export const PERT_FAULTS: OwnFaults = {
  lying_more: {
    path: CHANGES_PATH,
    read({ value = null }) {
      if (value !== null && typeof value !== 'boolean') throw badRequest('value must be true or false');
      return { value };
    },
  },
  repeated_page: { path: CHANGES_PATH, read: () => ({}) },
  no_next_cursor: {
    path: CHANGES_PATH,
    read({ value = 'absent' }) {
      if (typeof value === 'string' && NO_CURSORS.includes(value)) return { value };
      throw badRequest('value must be "absent", "null" or ""');
    },
  },
  bad_item: {
    path: CHANGES_PATH,
    read({ index = 0 }) {
      if (typeof index === 'number' && Number.isInteger(index) && index >= 0) return { index };
      throw badRequest('index must be a whole number');
    },
  },
  silently_fewer: { path: CHANGES_PATH, read: () => ({}) },
  growing: { path: CHANGES_PATH, read: () => ({}) },
};

/** Positions of the first and the last item of a page; the last is before the first when there is none. */
export interface PageBounds {
  readonly after: number;
  readonly last: number;
}

/** Which entries answer a call; 410 when they are gone, unless a fault keeps silent about it. */
export function boundsOfPage(
  { journal }: Ledger,
  { since, limit }: { since: string | undefined; limit: number },
  { silent }: { silent: boolean },
): PageBounds {
  if (!since) throw badRequest('name since_cursor: a cursor of a snapshot or of a page');
  const asked = positionOf(since);
  if (asked > journal.last()) throw noCursor();
  if (asked < journal.min() && !silent) {
    throw new SimulatorRefusal(410, 'cursor_too_old', 'the journal no longer reaches back so far: take a snapshot');
  }
  const after = Math.max(asked, journal.min());
  return { after, last: Math.min(after + limit, journal.last()) };
}

/** The page as JSON text, as it is or as the fault has it. */
export function textOfPage(ledger: Ledger, { after, last }: PageBounds, fault: OwnFault | null): string {
  const items: string[] = [];
  const bad = fault?.fault === 'bad_item' ? after + 1 + Number(fault.own.index) : null;
  for (let position = after + 1; position <= last; position += 1) {
    items.push(textOfEntry(ledger, position, { spoil: position === bad }));
  }
  const hasMore = last < ledger.journal.last();
  const stated = fault?.fault === 'lying_more' ? (fault.own.value ?? !hasMore) : hasMore;
  return `{"items":[${items.join(',')}]${textOfNext(last, fault)},"has_more":${JSON.stringify(stated)}}`;
}

function textOfNext(last: number, fault: OwnFault | null): string {
  const told = fault?.fault === 'no_next_cursor' ? fault.own.value : undefined;
  if (told === 'absent') return '';
  if (told === 'null') return ',"next_cursor":null';
  return `,"next_cursor":"${told === '' ? '' : cursorOf(last)}"`;
}
