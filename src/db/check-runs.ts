import type { Tx } from './transaction.js';

/** Notes that a check ran to its end. `detail` holds counts, never ids of people or bodies. */
export async function noteCheckRun(
  db: Tx,
  run: { name: string; beganAt: Date; findings: number; detail: object },
): Promise<void> {
  await db.query(
    `insert into sverka.check_run as c (name, began_at, findings, detail) values ($1, $2, $3, $4)
     on conflict (name) do update set began_at = excluded.began_at, findings = excluded.findings,
       detail = excluded.detail, finished_at = clock_timestamp()`,
    [run.name, run.beganAt, run.findings, JSON.stringify(run.detail)],
  );
}

/** Milliseconds since the check last ended; null when it never did. */
export async function checkAgeMs(db: Tx, name: string): Promise<number | null> {
  const rows = await db.query<{ age: number }>(
    `select extract(epoch from clock_timestamp() - finished_at)::double precision * 1000 as age
       from sverka.check_run where name = $1`,
    [name],
  );
  return rows[0]?.age ?? null;
}
