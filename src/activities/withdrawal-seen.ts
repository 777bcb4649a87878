import type { WithdrawalSeen } from '../contracts/messages.js';
import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import { DECLARED_FAILED } from '../domain/withdrawal.js';
import type { ActivityDeps } from './deps.js';
import { paceMs } from './pace.js';

/** One withdrawal, as its workflow follows it. */
export interface OfWithdrawal {
  readonly id: string;
  readonly runId: string;
  readonly traceId: string;
  /** Looks at the custodian, and times that people were told, before this. */
  readonly looks: number;
  readonly told: number;
}

/** What follows from where it stands. */
export function whereWithdrawalStands(
  { config }: Pick<ActivityDeps, 'config'>,
  record: WithdrawalRecord,
  { looks, told }: Pick<OfWithdrawal, 'looks' | 'told'>,
): WithdrawalSeen {
  const byCustodian = record.route === 'custody';
  switch (record.state) {
    case 'requested':
      return withdrawalSeen(record, untilPeopleDecide(config, record, told));
    case 'approved':
      return withdrawalSeen(record, { next: byCustodian ? 'submit' : 'wait', waitMs: null });
    case 'submitted':
      // Once he has shown it, he notifies; a poll finds what a lost notification told.
      if (byCustodian) {
        const waitMs = Math.min(paceMs(config, looks), config.SVERKA_PAYOUT_POLL_INTERVAL);
        return withdrawalSeen(record, { next: 'look', waitMs });
      }
      return withdrawalSeen(record, { next: 'wait', waitMs: null });
    case 'unknown':
      return withdrawalSeen(record, { next: 'look', waitMs: paceMs(config, looks) });
    case 'failed': {
      // A person said so: he may have been wrong, and a payout turn up after all.
      const until = (record.settledAt?.getTime() ?? 0) + config.SVERKA_FOUND_LATE_AGE;
      const watched = byCustodian && record.reason === DECLARED_FAILED && until > Date.now();
      if (watched) return withdrawalSeen(record, { next: 'look', waitMs: config.SVERKA_RECONCILE_INTERVAL });
      return withdrawalSeen(record, { next: 'end', waitMs: null });
    }
    default:
      return withdrawalSeen(record, { next: 'end', waitMs: null });
  }
}

/** Where it stands, and what comes next. */
export function withdrawalSeen(
  record: WithdrawalRecord,
  then: Pick<WithdrawalSeen, 'next' | 'waitMs'>,
): WithdrawalSeen {
  const { state, merchantId, flag, route, needsOperator } = record;
  const waitsForPeople = state === 'requested' || (state === 'approved' && route === 'manual');
  const reason = flag ?? reasonOf(record);
  return { state, merchantId, reason, route, needsOperator: needsOperator || waitsForPeople, ...then };
}

/** What a person wrote stays in the database: a history keeps words of ours alone. */
function reasonOf({ state, reason }: WithdrawalRecord): string | null {
  const isOurs = state !== 'rejected' && (state !== 'cancelled' || reason === 'by_merchant' || reason === 'expired');
  return isOurs ? reason : 'by_decision';
}

/** A reminder, an escalation, then the end of its time. */
function untilPeopleDecide(
  config: ActivityDeps['config'],
  { createdAt, expiresAt }: WithdrawalRecord,
  told: number,
): Pick<WithdrawalSeen, 'next' | 'waitMs'> {
  const steps = [config.SVERKA_WITHDRAWAL_REMINDER, config.SVERKA_WITHDRAWAL_ESCALATION];
  const at = createdAt.getTime() + (steps[told] ?? Number.POSITIVE_INFINITY);
  const ends = expiresAt.getTime();
  const left = (time: number) => Math.max(time - Date.now(), 1);
  return at < ends ? { next: 'tell', waitMs: left(at) } : { next: 'decide', waitMs: left(ends) };
}
