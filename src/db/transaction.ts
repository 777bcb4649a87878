import type pg from 'pg';
import { CommitUnknown, isConnectionLoss, translateDatabaseError } from './errors.js';

/** Where a query runs: inside a transaction, or on its own. `query` answers the rows. */
export interface Tx {
  query<R extends object = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<R[]>;
}

/** How a transaction begins. The default is what `post` needs: READ COMMITTED, able to write. */
export type TransactionMode = 'write' | 'snapshot';

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  write: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  snapshot: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
};

/**
 * Runs `work` in one transaction and commits. `snapshot` sees one moment and may only read.
 * Throws what `work` threw (the first error, whatever the rollback says), translated by `errors.ts`; `CommitUnknown`
 * when the answer to COMMIT was lost. Never call a provider inside: the connection and its locks are held till the end.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<T>,
  mode: TransactionMode = 'write',
): Promise<T> {
  const client = await pool.connect().catch(throwTranslated);
  let broken: Error | undefined;
  try {
    await client.query(BEGIN[mode]).catch(throwTranslated);
    const result = await work(queriesOf(client));
    await commit(client);
    return result;
  } catch (error) {
    // Unless COMMIT or a lost connection has ended it, end it; a client that cannot even roll back is not used again.
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure instanceof Error ? failure : new Error(String(failure));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** One query of its own, outside any transaction; errors are translated. */
export function queriesOf(runner: pg.Pool | pg.PoolClient): Tx {
  return {
    async query<R extends object>(sql: string, params: readonly unknown[] = []): Promise<R[]> {
      const { rows } = await runner.query<R>(sql, [...params]).catch(throwTranslated);
      return rows;
    },
  };
}

async function commit(client: pg.PoolClient): Promise<void> {
  const answer = await client.query('COMMIT').catch((error: unknown) => {
    if (!isConnectionLoss(error)) throw translateDatabaseError(error);
    throw new CommitUnknown('COMMIT was sent and its answer was lost. Look for what it wrote by its unique key.', {
      cause: error,
    });
  });
  // COMMIT of a transaction in which a query failed, and whose error somebody swallowed, is answered like a success.
  if (answer.command !== 'COMMIT') {
    throw new Error('Nothing was committed: a query of this transaction failed and its error was not passed on.');
  }
}

function throwTranslated(error: unknown): never {
  throw translateDatabaseError(error);
}
