import { hashParts } from '../../db/new-id.js';
import { Problem } from '../problem.js';

/** What a cursor is bound to: route, owner, and every filter with its values. */
export type CursorScope = readonly string[];

const DIGEST_BYTES = 12;
const CURSOR_CHARACTERS_MAX = 512;

/** An opaque text that leads back to `position` in the list it was made for, for ever. */
export function encodeCursor(scope: CursorScope, position: string): string {
  return Buffer.concat([digest(scope, position), Buffer.from(position, 'utf8')]).toString('base64url');
}

/** The position of a cursor; `invalid_cursor` for one that is not ours or was made with other filters. */
export function decodeCursor(scope: CursorScope, cursor: string): string {
  const bytes = Buffer.from(cursor.slice(0, CURSOR_CHARACTERS_MAX), 'base64url');
  const position = bytes.subarray(DIGEST_BYTES).toString('utf8');
  // Compared as text: base64 forgives stray characters, and a cursor has one form only.
  if (encodeCursor(scope, position) !== cursor)
    throw new Problem('invalid_cursor', {
      errors: [{ pointer: '?cursor', detail: 'is not ours, or was made with other filters' }],
    });
  return position;
}

function digest(scope: CursorScope, position: string): Buffer {
  return hashParts(['cursor 1', String(scope.length), ...scope, position]).subarray(0, DIGEST_BYTES);
}
