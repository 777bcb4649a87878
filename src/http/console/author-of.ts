import type { Author } from '../../db/author.js';
import type { SignedCall } from '../pages/call.js';

/** Who makes this call, as the audit names a person. */
export function authorOf({ session, traceId }: Pick<SignedCall, 'session' | 'traceId'>): Author {
  return { actor: `user:${session.userId}`, traceId };
}
