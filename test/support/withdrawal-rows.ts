import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { decisionStage, insertDecision } from '../../src/db/decisions.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { requestWithdrawal } from '../../src/db/request-withdrawal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { addWithdrawalDestination, setWithdrawalOffer, setWithdrawalPolicy } from '../../src/db/withdrawal-book.js';
import type { WithdrawalChoice } from '../../src/domain/withdrawal.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { makePerson } from './decisions.js';
import { fund, openPurse, type Purse } from './journal-fixtures.js';
import type { TestDatabase } from './test-database.js';
import { TESTER } from './tester.js';

export const ASSET = 'USDT-TRC20';
export const FEE = 1_000_000n;
export const ADDRESS = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE';

/** A merchant with a wallet and a person who asks, and people of ours who decide. Pools are of the roles they use. */
export interface Withdrawing {
  readonly owner: pg.Pool;
  readonly cabinet: pg.Pool;
  readonly console: pg.Pool;
  readonly worker: pg.Pool;
  readonly merchantId: string;
  readonly purse: Purse;
  readonly requester: string;
  readonly operator: string;
  readonly approver: string;
  readonly approver2: string;
  readonly destinationId: string;
  /** Asks as the requester; answers the id. Amounts in minor units of `ASSET`. */
  request(of?: { amount?: bigint; destinationId?: string; key?: string; seenFee?: bigint }): Promise<string>;
  /** Inserts the row of a person's decision, as the console does; answers its id. */
  decide(id: string, choice: WithdrawalChoice, of: Deciding): Promise<string>;
  close(): Promise<void>;
}

interface Deciding {
  readonly by: string;
  readonly argument?: string;
  /** What that person saw; as it stands now when left out. */
  readonly seenHash?: Buffer;
  readonly stage?: string;
}

let merchants = 0;

/** `wallet`: what it holds, in minor units. Two approve from 1 000 USDT on; new destinations wait for nothing. */
export async function openWithdrawing(database: TestDatabase, { wallet = 100_000_000n } = {}): Promise<Withdrawing> {
  const pool = (role: 'cabinet' | 'console' | 'worker') =>
    createPool(database.urlFor(role), { max: 4, applicationName: `test-${role}` });
  const owner = createPool(database.url, { max: 4, applicationName: 'test' });
  const [cabinet, console_, worker] = [pool('cabinet'), pool('console'), pool('worker')];
  const db = queriesOf(owner);
  const [merchantId, n] = [newId('merchant'), (merchants += 1)];
  await db.query('select sverka.create_merchant($1, $2)', [merchantId, `Merchant ${n}`]);
  await setWithdrawalOffer(
    db,
    {
      ...{ book: 'live', network: 'tron', asset: ASSET, fee: FEE, smallest: 2_000_000n },
      ...{ twoApprovalsFrom: 1_000_000_000n, routes: ['custody', 'manual'] },
    },
    TESTER,
  );
  await setWithdrawalPolicy(db, { book: 'live', coolingOffMs: 0, expiresAfterMs: 86_400_000 }, TESTER);
  const purse = await openPurse(owner, { asset: ASSET, merchantId });
  await fund(owner, purse, { wallet });
  const requester = newId('user');
  const login = `requester-${n}`;
  await db.query('select sverka.create_user($1, $2, $3, $4)', [requester, login, merchantId, ['requester']]);
  const person = (name: string, role: string) => makePerson(owner, `${name}-${n}`, [role]);
  const operator = await person('operator', 'operator');
  const [approver, approver2] = [await person('approver', 'approver'), await person('approver2', 'approver')];
  const destination = { book: 'live', merchantId, userId: requester, label: 'Ours', network: 'tron' } as const;
  const { id: destinationId } = await addWithdrawalDestination(db, { ...destination, address: ADDRESS, tag: null });
  return {
    ...{ owner, cabinet, console: console_, worker, merchantId, purse },
    ...{ requester, operator, approver, approver2, destinationId },
    async request({ amount = 20_000_000n, key = randomUUID(), seenFee = FEE, ...of } = {}) {
      const { answer, id } = await requestWithdrawal(queriesOf(cabinet), {
        ...{ book: 'live', merchantId, userId: requester, key, asset: ASSET, amount, seenFee, reference: null },
        ...{ destinationId: of.destinationId ?? destinationId, traceId: newTraceId() },
      });
      if (id === null) throw new Error(answer);
      return id;
    },
    async decide(id, choice, { by, argument, seenHash, stage }) {
      const of = { type: 'withdrawal', id } as const;
      return insertDecision(queriesOf(console_), {
        ...{ subjectType: 'withdrawal', subjectId: id, choice, userId: by, reason: 'a test', traceId: newTraceId() },
        argument: argument ?? (choice === 'approve' ? 'custody' : null),
        stage: stage ?? (await decisionStage(queriesOf(console_), of)),
        seenHash: seenHash ?? (await seenWithdrawal(console_, id)),
      });
    },
    async close() {
      for (const each of [owner, cabinet, console_, worker]) await each.end();
    },
  };
}

/** Adds a proof as the console does; answers its id. */
export async function addProof(
  { console: pool, operator }: Pick<Withdrawing, 'console' | 'operator'>,
  id: string,
  of: { hash?: string; file?: boolean },
): Promise<string> {
  const file = of.file ? ['payout.pdf', 'application/pdf', Buffer.from('%PDF-1.7')] : [null, null, null];
  const { rows } = await pool.query<{ id: string }>(
    'select sverka.add_withdrawal_proof($1, $2, $3, $4, $5, $6) as id',
    [id, operator, of.hash ?? null, ...file],
  );
  return rows[0]?.id ?? '';
}

/** What a person who looks at it now sees, as the console's role reads it. */
export async function seenWithdrawal(pool: pg.Pool, id: string): Promise<Buffer> {
  const { rows } = await pool.query<{ seen: Buffer }>(
    'select sverka.withdrawal_hash(w) as seen from sverka.withdrawal w where w.id = $1',
    [id],
  );
  return rows[0]?.seen ?? Buffer.alloc(32);
}
