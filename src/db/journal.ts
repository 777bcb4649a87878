import { bodyParts, type MovementInstruction, type PostOutcome } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import { type OperationKey, operationKeyParts } from '../domain/operation-key.js';
import { hashParts, movementId } from './new-id.js';
import type { Tx } from './transaction.js';

/** As many movements as one call takes. */
export const MOVEMENTS_PER_POST_MAX = 1_000;

export interface PostResult {
  readonly outcome: PostOutcome;
  /** Why `invalid`; for `guarded` and `insufficient` the id of the account that owes or lacks; else null. */
  readonly detail: string | null;
  /** `mov_…` of the movement that stands under the key (`posted`, `duplicate`, `conflict`); else null. */
  readonly movementId: string | null;
  /** Per line what really moved, signed (for a duplicate, the first time); empty unless `posted` or `duplicate`. */
  readonly moved: readonly Minor[];
}

/**
 * Posts movements in order, in the caller's transaction: call it once per transaction and as late as possible, after
 * `openAccounts`. Answers one result per movement; a refused one never spoils the others. Nothing is posted before the
 * caller commits. Throws `Retryable` (a lock, or a key taken meanwhile: run the transaction again), and `Refused` for
 * a movement of a kind that is not this role's.
 */
export async function post(
  tx: Tx,
  movements: readonly MovementInstruction[],
  context: { readonly traceId: string | null },
): Promise<PostResult[]> {
  if (movements.length === 0) return [];
  if (movements.length > MOVEMENTS_PER_POST_MAX) {
    throw new Error(
      `post takes ${MOVEMENTS_PER_POST_MAX} movements at most, not ${movements.length}: make smaller pages.`,
    );
  }
  const keys = movements.map((movement) => hashOperationKey(movement.key));
  const lines = movements.flatMap((movement) => movement.lines);
  const [answer] = await tx.query<PostAnswer>(
    // As text: the driver would read numeric[] into doubles.
    `select outcomes, details, moved::text[] as moved
       from ledger.post($1::bytea[], $2::bytea[], $3::text[], $4::int[], $5::text[], $6::text[], $7::int[],
                        $8::bytea[], $9::text[], $10::bigint[], $11::numeric[], $12::text[], $13)`,
    [
      keys,
      movements.map((movement) => hashParts(bodyParts(movement))),
      movements.map((movement) => movement.kind),
      movements.map((movement) => movement.lines.length),
      movements.map((movement) => movement.subject.type),
      movements.map((movement) => movement.subject.id),
      movements.map((movement) => movement.key.generation),
      movements.map((movement) => (movement.compensates ? hashOperationKey(movement.compensates) : null)),
      movements.map((movement) => movement.reference ?? null),
      lines.map((line) => line.account),
      lines.map((line) => (line.role === 'leg' ? line.amount : null)),
      lines.map((line) => line.role),
      context.traceId,
    ],
  );
  if (answer === undefined) throw new Error('ledger.post answered no row: the database is not of this version.');
  return readAnswer(answer, movements, keys);
}

/** SHA-256 of an operation key: what `ledger.movement.key` holds. */
export function hashOperationKey(key: OperationKey): Buffer {
  return hashParts(operationKeyParts(key));
}

interface PostAnswer {
  readonly outcomes: PostOutcome[];
  readonly details: (string | null)[];
  readonly moved: (string | null)[];
}

const UNDER_KEY: ReadonlySet<PostOutcome> = new Set(['posted', 'duplicate', 'conflict']);

function readAnswer(answer: PostAnswer, movements: readonly MovementInstruction[], keys: readonly Buffer[]) {
  let at = 0;
  return movements.map((movement, i): PostResult => {
    const outcome = answer.outcomes[i];
    const key = keys[i];
    if (outcome === undefined || key === undefined) throw new Error('ledger.post answered too few outcomes.');
    const moved = answer.moved
      .slice(at, at + movement.lines.length)
      .flatMap((text) => (text === null ? [] : BigInt(text)));
    at += movement.lines.length;
    return {
      outcome,
      detail: answer.details[i] ?? null,
      movementId: UNDER_KEY.has(outcome) ? movementId(key) : null,
      moved,
    };
  });
}
