import type pg from 'pg';
import type { DecisionSubject } from '../../src/contracts/decision.js';
import { findBalanceSource, hashSeenBalances } from '../../src/db/balance-sources.js';
import { findDeadLetter, hashSeenDeadLetter } from '../../src/db/dead-letters.js';
import { decisionStage, insertDecision, readDecisionOutcome } from '../../src/db/decisions.js';
import { readDeposit } from '../../src/db/deposits.js';
import { findIssuance, hashSeenIssuance } from '../../src/db/issuances.js';
import { newId } from '../../src/db/new-id.js';
import { queriesOf } from '../../src/db/transaction.js';
import { hashSeenDeposit } from '../../src/db/weigh-deposits.js';
import { newTraceId } from '../../src/telemetry/trace.js';

/** A person of ours; answers the id. `pool` may do what the console may. */
export async function makePerson(pool: pg.Pool, login: string, roles: readonly string[] = ['operator']) {
  const id = newId('user');
  await pool.query('select sverka.create_user($1, $2, null, $3)', [id, login, roles]);
  return id;
}

export interface Decided {
  readonly type: DecisionSubject;
  readonly id: string;
  readonly choice: string;
  readonly argument?: string;
  readonly userId: string;
  /** What the person saw; what is there now unless given. */
  readonly seenHash?: Buffer;
  readonly stage?: string;
}

/** What a person of today sees of it. */
export async function seenNow(pool: pg.Pool, of: { type: DecisionSubject; id: string }): Promise<Buffer> {
  const db = queriesOf(pool);
  if (of.type === 'deposit') {
    const deposit = await readDeposit(db, of.id);
    if (deposit) return hashSeenDeposit(deposit);
  } else if (of.type === 'issuance') {
    const issuance = await findIssuance(db, of.id);
    if (issuance) return hashSeenIssuance(issuance);
  } else if (of.type === 'balance_source') {
    const source = await findBalanceSource(db, of.id);
    if (source) return hashSeenBalances(source);
  } else {
    const letter = await findDeadLetter(db, of.id);
    if (letter) return hashSeenDeadLetter(letter);
  }
  throw new Error(`There is no ${of.type} ${of.id}.`);
}

/** Inserts a decision as the command line does; answers its id. `pool` is of the console's role, or the owner. */
export async function decideAs(pool: pg.Pool, of: Decided): Promise<string> {
  const db = queriesOf(pool);
  return insertDecision(db, {
    subjectType: of.type,
    subjectId: of.id,
    stage: of.stage ?? (await decisionStage(db, of)),
    choice: of.choice,
    argument: of.argument ?? null,
    seenHash: of.seenHash ?? (await seenNow(pool, of)),
    userId: of.userId,
    reason: 'a test',
    traceId: newTraceId(),
  });
}

/** `applied: retry`, `void: …`, or null while it is open. */
export async function outcomeOf(pool: pg.Pool, decisionId: string): Promise<string | null> {
  const came = await readDecisionOutcome(queriesOf(pool), decisionId);
  return came && `${came.outcome}: ${came.detail}`;
}
