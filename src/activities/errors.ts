import { ApplicationFailure } from '@temporalio/activity';
import { NOTHING_SENT } from '../contracts/messages.js';
import { DatabaseError, Refused, Retryable, Unavailable } from '../db/errors.js';
import { ProviderError } from '../providers/errors.js';
import { KeyError } from '../providers/keys/key-provider.js';

/** A create that failed before anything was sent; `waitMs` until it may be sent. `cause` says why. */
export class NothingSent extends Error {
  constructor(
    readonly waitMs: number,
    options: { readonly cause: unknown },
  ) {
    super('Nothing was sent to the provider, and nothing can have been made; it is sent later.', options);
    this.name = NOTHING_SENT;
  }
}

/**
 * Ours → Temporal, at one place. A failure keeps a type and a class, never a provider's body or a driver's text.
 * Retryable unless only a person can mend it; a bug stays retryable too, so that a corrected worker goes on.
 */
export function toFailure(error: unknown, options: { misconfiguredMs: number }): unknown {
  if (error instanceof ProviderError) {
    return ApplicationFailure.create({
      type: `Provider.${error.kind}`,
      message: error.message,
      ...delayOf(error, options.misconfiguredMs),
    });
  }
  if (error instanceof DatabaseError) {
    const known = error instanceof Retryable || error instanceof Unavailable;
    return ApplicationFailure.create({
      type: `Database.${error.name}`,
      message: known ? error.message : `The database refused: SQLSTATE ${error.sqlstate ?? 'none'}.`,
      nonRetryable: error instanceof Refused,
    });
  }
  if (error instanceof NothingSent) {
    const cause = toFailure(error.cause, options);
    return ApplicationFailure.create({
      type: NOTHING_SENT,
      message: error.message,
      nonRetryable: true,
      details: [error.waitMs],
      ...(cause instanceof Error && { cause }),
    });
  }
  if (error instanceof KeyError) {
    return ApplicationFailure.create({
      type: `Keys.${error.kind}`,
      message: error.message,
      ...(error.kind === 'unavailable' ? {} : { nextRetryDelay: options.misconfiguredMs }),
    });
  }
  return error;
}

// What a person must mend goes on by itself within a minute of it; what a provider asks to wait is waited.
function delayOf(error: ProviderError, misconfiguredMs: number): { nextRetryDelay?: number } {
  if (error.kind === 'misconfigured') return { nextRetryDelay: misconfiguredMs };
  return error.retryAfterMs === null ? {} : { nextRetryDelay: error.retryAfterMs };
}
