import type { WithdrawalInput } from '../../contracts/messages.js';
import type { Scope } from '../../db/lists.js';
import type { PagesDeps, SignedCall } from '../pages/call.js';

/** What the pages of the merchant's cabinet work with. */
export interface CabinetDeps extends PagesDeps {
  /** Begins the run of a withdrawal, or asks it to look; without Temporal the sweep finds the row. Never throws. */
  readonly nudge: (input: WithdrawalInput) => Promise<void>;
}

/** Whose rows a requester may see: of his merchant, in the book that is chosen. Every query of the cabinet takes it. */
export function scopeOf({ session, view }: SignedCall<CabinetDeps>): Scope {
  const { merchantId } = session;
  if (merchantId === null) throw new Error('A session of the cabinet has no merchant, which the database forbids.');
  return { merchantId, book: view.book };
}
