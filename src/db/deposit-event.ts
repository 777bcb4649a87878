import { type DepositRecord, toDeposit } from '../contracts/deposit.js';
import type { NewEvent } from './events.js';

/** What its merchant is told of the state it is in now. */
export function depositEvent(record: DepositRecord, traceId: string): NewEvent {
  return {
    type: `deposit.${record.state}`,
    book: record.book,
    merchantId: record.merchantId,
    subjectType: 'deposit',
    subjectId: record.id,
    version: record.version,
    data: toDeposit(record),
    traceId,
  };
}
