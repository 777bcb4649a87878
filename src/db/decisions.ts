import type { DecisionSubject, OpenDecision } from '../contracts/decision.js';
import { maskCardNumbers } from '../domain/card-numbers.js';
import { hashParts, newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** What the hash of a decision covers: everything of the subject that the person was shown, in this order. */
export function hashSeen(parts: readonly (string | number | bigint | null)[]): Buffer {
  return hashParts(parts.map((part) => (part === null ? 'null' : `=${part}`)));
}

export interface NewDecision {
  readonly subjectType: DecisionSubject;
  readonly subjectId: string;
  /** As `decisionStage` says. */
  readonly stage: string;
  readonly choice: string;
  /** What the choice names, where it names something. */
  readonly argument?: string | null;
  readonly seenHash: Buffer;
  readonly userId: string;
  readonly reason: string;
  readonly traceId: string;
}

/**
 * The stage that a subject stands at: one after each decision that was applied or void. Read it together with what is
 * shown: of two people who looked at the same, only one can decide.
 */
export async function decisionStage(db: Tx, of: { readonly type: DecisionSubject; readonly id: string }) {
  const rows = await db.query<{ closed: number }>(
    `select count(*)::int as closed from sverka.decision d join sverka.decision_outcome o on o.decision_id = d.id
      where d.subject_type = $1 and d.subject_id = $2`,
    [of.type, of.id],
  );
  return String((rows[0]?.closed ?? 0) + 1);
}

/**
 * Inserts a person's decision (the console's role alone may); answers its id. Throws `UniqueViolation` when this stage
 * was decided before, `Refused` when the person's roles do not allow it.
 */
export async function insertDecision(db: Tx, decision: NewDecision): Promise<string> {
  const id = newId('decision');
  const { subjectType, subjectId, stage, choice, argument = null, seenHash, userId, reason, traceId } = decision;
  await db.query(
    `insert into sverka.decision (id, subject_type, subject_id, stage, choice, argument, seen_hash, user_id, reason,
       trace_id) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [id, subjectType, subjectId, stage, choice, argument, seenHash, userId, maskCardNumbers(reason), traceId],
  );
  return id;
}

/** Decisions on these subjects that nobody has applied yet; all of the type when no ids are given. Oldest first. */
export async function openDecisions<Choice extends string>(
  db: Tx,
  of: { readonly type: DecisionSubject; readonly ids: readonly string[] | null },
): Promise<OpenDecision<Choice>[]> {
  return db.query<OpenDecision<Choice>>(
    `select d.id, d.subject_id as "subjectId", d.choice, d.argument,
       d.seen_hash as "seenHash", d.user_id as "userId", d.reason,
       d.trace_id as "traceId"
     from sverka.decision d
     where d.subject_type = $1 and ($2::text[] is null or d.subject_id = any ($2))
       and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)
     order by d.created_at, d.id limit 100`,
    [of.type, of.ids],
  );
}

/** What came of a decision. */
export interface DecisionOutcome {
  readonly outcome: 'applied' | 'void';
  readonly detail: string;
}

/** Null while nobody has applied it. */
export async function readDecisionOutcome(db: Tx, id: string): Promise<DecisionOutcome | null> {
  const rows = await db.query<DecisionOutcome>(
    'select outcome, detail from sverka.decision_outcome where decision_id = $1',
    [id],
  );
  return rows[0] ?? null;
}

/** Notes what came of a decision, in the transaction of its effect. */
export async function closeDecision(
  tx: Tx,
  decision: { readonly id: string },
  came: DecisionOutcome & { readonly traceId: string },
): Promise<void> {
  const { outcome, detail, traceId } = came;
  await tx.query('select sverka.close_decision($1, $2, $3, $4)', [decision.id, outcome, detail, traceId]);
}
