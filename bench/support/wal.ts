import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

const LOOK_MS = 50;

/** Writes what is dirty, so that no checkpoint of its own falls into what is measured next. */
export async function checkpoint(owner: pg.Pool): Promise<void> {
  await owner.query('checkpoint');
}

/**
 * Bytes of the write-ahead log that `work` wrote, as (current position after) − (before). Only the servers' own
 * benchmark may run meanwhile: the log is the cluster's, so its autovacuum rests (after a checkpoint it writes whole
 * pages of what was just filled).
 */
export async function walBytesOf(owner: pg.Pool, work: () => Promise<void>): Promise<number> {
  await setAutovacuum(owner, 'off');
  try {
    const before = await walPosition(owner);
    await work();
    return Number((await walPosition(owner)) - before);
  } finally {
    await setAutovacuum(owner, 'on');
  }
}

async function setAutovacuum(owner: pg.Pool, to: 'on' | 'off'): Promise<void> {
  await owner.query(`alter system set autovacuum = ${to}`);
  await owner.query('select pg_reload_conf()');
  if (to === 'on') return;
  const isRunning = `select from pg_stat_activity where backend_type in ('autovacuum launcher', 'autovacuum worker')`;
  while ((await owner.query(isRunning)).rows.length > 0) await pause(LOOK_MS);
}

async function walPosition(owner: pg.Pool): Promise<bigint> {
  const { rows } = await owner.query<{ position: string }>(
    `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as position`,
  );
  return BigInt(rows[0]?.position ?? 0);
}
