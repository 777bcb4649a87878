import type { IssuanceRecord } from '../contracts/card.js';
import type { IssuanceSeen } from '../contracts/messages.js';
import type { ActivityDeps } from './deps.js';
import { paceMs } from './pace.js';

/** One issuance, as its workflow follows it. */
export interface OfIssuance {
  readonly id: string;
  readonly traceId: string;
}

/** What follows from where it stands. `absentLooks`: the issuer showed nothing, after so many looks before. */
export function whereItStands(
  { config }: Pick<ActivityDeps, 'config'>,
  record: IssuanceRecord,
  absentLooks?: number,
): IssuanceSeen {
  const paced = paceMs(config, absentLooks ?? 0);
  const poll = config.SVERKA_ISSUANCE_POLL_INTERVAL;
  switch (record.state) {
    case 'active':
    case 'failed':
    case 'found_late':
      return seen(record, { next: 'end', waitMs: null });
    case 'unknown':
      return seen(record, { next: 'look', waitMs: paced });
    // A new card may not be shown yet (the issuer's lag): what notified of it is not waited for again.
    default:
      return seen(record, { next: 'look', waitMs: absentLooks === undefined ? poll : Math.min(paced, poll) });
  }
}

/** Where it stands, and what comes next. */
export function seen(record: IssuanceRecord, then: Pick<IssuanceSeen, 'next' | 'waitMs'>): IssuanceSeen {
  const { state, cardId, merchantId, flag, reason, needsOperator } = record;
  return { state, cardId, merchantId, reason: flag ?? reason, needsOperator, ...then };
}
