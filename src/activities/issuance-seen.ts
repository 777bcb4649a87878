import type { IssuanceRecord } from '../contracts/card.js';
import type { IssuanceSeen } from '../contracts/messages.js';
import type { ActivityDeps } from './deps.js';
import { paceMs } from './pace.js';

/** One issuance, as its workflow follows it. */
export interface OfIssuance {
  readonly id: string;
  readonly traceId: string;
}

/** What follows from where it stands. `looks`: how often in a row the issuer showed nothing. */
export function whereItStands(
  { config }: Pick<ActivityDeps, 'config'>,
  record: IssuanceRecord,
  looks = 0,
): IssuanceSeen {
  switch (record.state) {
    case 'active':
    case 'failed':
    case 'found_late':
      return seen(record, { next: 'end', waitMs: null });
    case 'unknown':
      return seen(record, { next: 'look', waitMs: paceMs(config, looks) });
    default:
      return seen(record, { next: 'look', waitMs: config.SVERKA_ISSUANCE_POLL_INTERVAL });
  }
}

/** Where it stands, and what comes next. */
export function seen(record: IssuanceRecord, then: Pick<IssuanceSeen, 'next' | 'waitMs'>): IssuanceSeen {
  const { state, cardId, merchantId, flag, reason, needsOperator } = record;
  return { state, cardId, merchantId, reason: flag ?? reason, needsOperator, ...then };
}
