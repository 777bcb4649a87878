import type pg from 'pg';

/** Writes what is dirty, so that no checkpoint of its own falls into what is measured next. */
export async function checkpoint(owner: pg.Pool): Promise<void> {
  await owner.query('checkpoint');
}

/**
 * Bytes of the write-ahead log that `work` wrote, as (current position after) − (before). Only the servers' own
 * benchmark may run meanwhile: the log is the cluster's.
 */
export async function walBytesOf(owner: pg.Pool, work: () => Promise<void>): Promise<number> {
  const before = await walPosition(owner);
  await work();
  return Number((await walPosition(owner)) - before);
}

async function walPosition(owner: pg.Pool): Promise<bigint> {
  const { rows } = await owner.query<{ position: string }>(
    `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as position`,
  );
  return BigInt(rows[0]?.position ?? 0);
}
