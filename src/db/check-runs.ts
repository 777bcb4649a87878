import type { Tx } from './transaction.js';

/** Notes that a check ran to its end. `detail` holds counts, never ids of people or bodies. */
export async function noteCheckRun(
  db: Tx,
  run: { readonly name: string; readonly beganAt: Date; readonly findings: number; readonly detail: object },
): Promise<void> {
  await db.query(
    `insert into sverka.check_run as c (name, began_at, finished_at, findings, detail)
     values ($1, $2, clock_timestamp(), $3, $4)
     on conflict (name) do update set began_at = excluded.began_at, finished_at = excluded.finished_at,
       findings = excluded.findings, detail = excluded.detail`,
    [run.name, run.beganAt, run.findings, JSON.stringify(run.detail)],
  );
}

/**
 * For how long each of these checks has not ended, in milliseconds, in their order. One that never did is measured from
 * the first time that it was asked about.
 */
export async function checkAges(db: Tx, names: readonly string[]): Promise<number[]> {
  await db.query(
    'insert into sverka.check_run (name) select unnest($1::text[]) order by 1 on conflict (name) do nothing',
    [names],
  );
  const rows = await db.query<{ age: number }>(
    `select extract(epoch from clock_timestamp() - coalesce(c.finished_at, c.expected_since))::float8 * 1000 as age
       from unnest($1::text[]) with ordinality n(name, at) join sverka.check_run c using (name) order by n.at`,
    [names],
  );
  return rows.map((row) => row.age);
}
