import type { Line, MovementInstruction, PostOutcome } from '../../src/domain/journal.js';
import { bodyParts } from '../../src/domain/journal.js';
import { operationKeyParts } from '../../src/domain/operation-key.js';

/** What the model knows of an account: the same facts as a row of ledger.account. */
export interface ModelAccount {
  readonly id: bigint;
  readonly book: string;
  readonly merchant: string;
  readonly asset: string;
  readonly floor: bigint | null;
  readonly cap: bigint | null;
}

export interface ModelResult {
  readonly outcome: PostOutcome;
  readonly detail: string | null;
  readonly moved: readonly bigint[];
}

const TOO_LARGE = 10n ** 38n;

/** The journal once more, small, in memory and without SQL: what `post` has to agree with in everything it answers. */
export class JournalModel {
  readonly balances = new Map<bigint, bigint>();
  private readonly accounts: ReadonlyMap<bigint, ModelAccount>;
  private readonly posted = new Map<string, { body: string; moved: readonly bigint[] }>();

  constructor(accounts: readonly ModelAccount[]) {
    this.accounts = new Map(accounts.map((account) => [account.id, account]));
  }

  post(movement: MovementInstruction): ModelResult {
    const key = JSON.stringify(operationKeyParts(movement.key));
    const body = JSON.stringify(bodyParts(movement));
    const known = this.posted.get(key);
    if (known) return known.body === body ? { ...DUPLICATE, moved: known.moved } : CONFLICT;
    const unsound = this.unsound(movement.lines);
    if (unsound) return invalid(unsound);

    const { moved, outOfRange, owing, lacking } = this.split(movement.lines);
    if (outOfRange) return invalid('out_of_range');
    if (owing !== null) return { outcome: 'guarded', detail: String(owing), moved: [] };
    if (lacking !== null) return { outcome: 'insufficient', detail: String(lacking), moved: [] };
    if (movement.lines[0]?.role === 'collect' && moved[0] === 0n)
      return { outcome: 'nothing', detail: null, moved: [] };

    movement.lines.forEach((line, i) => {
      this.balances.set(line.account, this.balance(line.account) + (moved[i] ?? 0n));
    });
    this.posted.set(key, { body, moved });
    return { outcome: 'posted', detail: null, moved };
  }

  balance(account: bigint): bigint {
    return this.balances.get(account) ?? 0n;
  }

  private unsound(lines: readonly Line[]): string | null {
    if (lines.length < 2) return 'too_few_legs';
    if (lines.length > 100) return 'too_many_legs';
    const sums = new Map<string, bigint>();
    for (const [i, line] of lines.entries()) {
      const reason = this.unsoundLine(lines, i);
      if (reason) return reason;
      const asset = this.accounts.get(line.account)?.asset ?? '';
      if (line.role === 'leg') sums.set(asset, (sums.get(asset) ?? 0n) + line.amount);
    }
    return [...sums.values()].some((sum) => sum !== 0n) ? 'unbalanced' : null;
  }

  private unsoundLine(lines: readonly Line[], i: number): string | null {
    const line = lines[i] as Line;
    const account = this.accounts.get(line.account);
    const first = this.accounts.get((lines[0] as Line).account);
    if (!account || !first) return 'unknown_account';
    if (account.book !== first.book) return 'mixed_books';
    if (account.merchant !== first.merchant) return 'mixed_merchants';
    if (lines.slice(0, i).some((other) => other.account === line.account)) return 'account_twice';
    const above = lines[i - 1];
    if (line.role === 'leg') {
      const size = line.amount < 0n ? -line.amount : line.amount;
      return size === 0n || size >= TOO_LARGE ? 'bad_amount' : null;
    }
    if (line.role === 'guard') return above ? null : 'bad_guard';
    if (line.role === 'draw') {
      const stands = above?.role === 'draw' || (above?.role === 'leg' && above.amount < 0n);
      return stands && this.accounts.get(above.account)?.asset === account.asset ? null : 'bad_draw';
    }
    const pair = lines.length === 2 && lines[0]?.role === lines[1]?.role && account.asset === first.asset;
    return pair && first.floor !== null && (i === 0 || account.cap !== null) ? null : 'bad_collect';
  }

  private split(lines: readonly Line[]) {
    const moved: bigint[] = [];
    let [owing, lacking]: [bigint | null, bigint | null] = [null, null];
    let outOfRange = false;
    let unmet = 0n;
    for (const [i, line] of lines.entries()) {
      const balance = this.balance(line.account);
      const { floor, cap } = this.accounts.get(line.account) as ModelAccount;
      let change = 0n;
      if (line.role === 'guard') {
        if (balance !== 0n) owing ??= line.account;
      } else if (line.role === 'collect') {
        change = i === 1 ? -(moved[0] as bigint) : -this.collectable(lines);
      } else {
        const asked = line.role === 'leg' ? line.amount : unmet;
        change = asked;
        if (lines[i + 1]?.role === 'draw' && floor !== null) {
          const room = balance > floor ? balance - floor : 0n;
          change = -asked > room ? -room : asked;
        }
        unmet = asked - change;
      }
      moved.push(change);
      const after = balance + change;
      if (change < 0n && floor !== null && after < floor) lacking ??= line.account;
      else if ((change > 0n && cap !== null && after > cap) || after >= TOO_LARGE || after <= -TOO_LARGE)
        outOfRange = true;
    }
    return { moved, outOfRange, owing, lacking };
  }

  private collectable([from, to]: readonly Line[]): bigint {
    const [source, target] = [from, to].map((line) => this.accounts.get((line as Line).account) as ModelAccount);
    const above = this.balance(source?.id as bigint) - (source?.floor as bigint);
    const below = (target?.cap as bigint) - this.balance(target?.id as bigint);
    const least = above < below ? above : below;
    return least > 0n ? least : 0n;
  }
}

const DUPLICATE = { outcome: 'duplicate', detail: null } as const;
const CONFLICT: ModelResult = { outcome: 'conflict', detail: null, moved: [] };

function invalid(detail: string): ModelResult {
  return { outcome: 'invalid', detail, moved: [] };
}
