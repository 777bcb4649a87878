/** What one page says of one deposit, as far as the model understands it. */
export interface ModelReading {
  readonly ref: string;
  readonly status: string;
  readonly txHash: string | null;
  readonly outputIndex: number | null;
  readonly amount: string;
}

export interface ModelDeposit {
  state: string;
  generation: number;
  version: number;
  credited: string | null;
  flag: string | null;
}

interface Kept extends ModelDeposit {
  /** The clock when something was last applied to it. */
  applied: number;
  output: string;
}

const UNIT = 1_000_000;
const BOOKED = new Set(['credited', 'final']);
const FOR_GOOD = new Set(['credited', 'final', 'rejected', 'parked']);

/**
 * What should become of deposits, written a second time and plainly: numbers instead of bigint, no plans, no walks.
 * One owner, one asset of six decimals, taken as the token. `met` counts what the histories ran into.
 */
export class DepositModel {
  readonly deposits = new Map<string, Kept>();
  readonly met = new Map<string, number>();
  credits = 0;
  total = 0n;
  private clock = 0;
  private readonly takenBy = new Map<string, { ref: string; amount: string }>();

  /** A read begins. */
  ticket(): number {
    this.clock += 1;
    return this.clock;
  }

  /** Its answer is applied; false when it was overtaken. */
  apply(ticket: number, reading: ModelReading): boolean {
    const deposit = this.deposits.get(reading.ref) ?? this.notice(reading);
    if (ticket <= deposit.applied) return this.count('stale', false);
    this.clock += 1;
    deposit.applied = this.clock;
    const before = deposit.flag;
    deposit.flag = null;
    this.settle(deposit, reading);
    if (deposit.flag !== null && before !== deposit.flag) this.count(`flag:${deposit.flag}`, true);
    return this.count('applied', true);
  }

  private notice(reading: ModelReading): Kept {
    const fresh = { state: 'noticed', generation: 0, version: 1, credited: null, flag: null };
    const deposit = { ...fresh, applied: 0, output: outputOf(reading) };
    this.deposits.set(reading.ref, deposit);
    return deposit;
  }

  private settle(deposit: Kept, reading: ModelReading): void {
    const taken =
      reading.status === 'completed' && hasOutput(reading) ? this.takenBy.get(outputOf(reading)) : undefined;
    if (taken && taken.ref !== reading.ref && !FOR_GOOD.has(deposit.state)) {
      const same = Number(taken.amount) === Number(reading.amount);
      this.count(same ? 'copy:same' : 'copy:other', true);
      return this.move(deposit, same ? 'dropped' : 'parked');
    }
    const to = judge(reading);
    if (to === 'mystery') deposit.flag = 'unknown_provider_status';
    else if (BOOKED.has(deposit.state)) deposit.flag = contradiction(deposit, reading, to);
    else if (deposit.state === 'rejected') deposit.flag = to === 'final' ? 'completed_after_rejection' : null;
    else if (deposit.state !== 'parked') this.move(deposit, to, reading);
  }

  private move(deposit: Kept, to: string, reading?: ModelReading): void {
    if (deposit.state === to) return;
    if (deposit.state === 'dropped') {
      if (to === 'rejected') return;
      deposit.generation += 1;
      this.count('reopened', true);
    }
    // Where it does not stand in `confirming` it goes there first, but for what a new one may do at once.
    const atOnce = deposit.state === 'noticed' && (to === 'rejected' || to === 'parked');
    if (deposit.state !== 'confirming' && to !== 'confirming' && !atOnce) deposit.version += 1;
    deposit.state = to;
    deposit.version += to === 'final' ? 2 : 1;
    this.count(`to:${to}`, true);
    if (to !== 'final' || !reading) return;
    deposit.credited = minor(reading.amount);
    deposit.output = outputOf(reading);
    this.takenBy.set(deposit.output, { ref: reading.ref, amount: reading.amount });
    this.credits += 1;
    this.total += BigInt(deposit.credited);
  }

  private count(what: string, answer: boolean): boolean {
    this.met.set(what, (this.met.get(what) ?? 0) + 1);
    return answer;
  }
}

function judge(reading: ModelReading): string {
  switch (reading.status) {
    case 'seen':
    case 'confirming':
      return 'confirming';
    case 'failed':
      return 'rejected';
    case 'replaced':
      return 'dropped';
    case 'completed':
      if (!hasOutput(reading) || (reading.amount.split('.')[1] ?? '').length > 6) return 'parked';
      return Number(reading.amount) === 0 ? 'rejected' : 'final';
    default:
      return 'mystery';
  }
}

function contradiction(deposit: Kept, reading: ModelReading, to: string): string | null {
  if (to === 'rejected' || to === 'dropped') return 'failed_after_credit';
  if (to === 'parked') return hasOutput(reading) ? 'amount_too_precise_after_credit' : 'no_transaction_after_credit';
  if (to !== 'final') return null;
  if (minor(reading.amount) !== deposit.credited) return 'amount_changed_after_credit';
  return outputOf(reading) === deposit.output ? null : 'transaction_changed_after_credit';
}

function hasOutput(reading: ModelReading): boolean {
  return reading.txHash !== null && reading.outputIndex !== null;
}

function outputOf(reading: ModelReading): string {
  return `${reading.txHash} ${reading.outputIndex}`;
}

// All amounts of the histories are small enough for a double.
function minor(amount: string): string {
  return String(Math.round(Number(amount) * UNIT));
}
