import type { WorkerWorld } from '../support/worker-world.js';

/** What the database's own guards refuse, done all the same. */
export async function unguarded({ owner }: WorkerWorld, table: string, sql: string): Promise<void> {
  await owner.query(`alter table ${table} disable trigger all`);
  await owner.query(sql);
  await owner.query(`alter table ${table} enable trigger all`);
}
