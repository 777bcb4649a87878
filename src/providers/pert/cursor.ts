/**
 * The one order of Pert's opaque cursors (R2), in which a stored position is compared with `min_cursor`. A cursor is
 * never parsed: a shorter one is older, and of equal length the bytes decide.
 */
export function compareCursors(one: string, other: string): -1 | 0 | 1 {
  const left = Buffer.from(one);
  const right = Buffer.from(other);
  const order = left.length === right.length ? Buffer.compare(left, right) : left.length - right.length;
  if (order === 0) return 0;
  return order < 0 ? -1 : 1;
}
