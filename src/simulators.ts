import { join } from 'node:path';
import { z } from 'zod';
import { createPool } from './db/pool.js';
import { startOps } from './http/ops.js';
import { startCustodySimulator } from './providers/custody/simulator.js';
import { startIssuerSimulator } from './providers/issuer/simulator.js';
import { startPertSimulator } from './providers/pert/simulator.js';
import { beginProcess, runUntilStopped } from './run-process.js';
import { createLog } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';

const text = z.string().min(1);
const account = z.object({ book: text, apiKey: text, hookUrl: z.url(), webhookSecret: text.min(32) });
const played = z.object({ port: z.number().int().min(0).max(65_535), accounts: z.array(account) });
const settingsSchema = z.object({
  /** A role that may read pg_stat_activity; left out, open transactions are not measured. */
  databaseUrl: text.optional(),
  /** Folder where simulators keep their worlds over a restart; left out, they forget. */
  stateDir: text.optional(),
  custody: played,
  /** Left out where nobody issues cards. */
  issuer: played.optional(),
  /** Left out where no balances are mirrored. */
  pert: played.optional(),
});

const config = beginProcess();
const settings = readSettings(config.SVERKA_SIMULATORS);
const log = createLog({ process: 'simulators', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
const metrics = createMetrics();
const pool = createPool(settings.databaseUrl ?? config.DATABASE_URL, { max: 2, applicationName: 'sverka-simulators' });
const common = (name: string) => ({
  host: config.SVERKA_HOST,
  countOpenTransactions: settings.databaseUrl === undefined ? undefined : countOpenTransactions,
  stateFile: settings.stateDir === undefined ? undefined : join(settings.stateDir, `${name}.json`),
});
const custody = await startCustodySimulator({ ...common('custody'), ...settings.custody });
const issuer = settings.issuer ? await startIssuerSimulator({ ...common('issuer'), ...settings.issuer }) : null;
const pert = settings.pert ? await startPertSimulator({ ...common('pert'), ...settings.pert }) : null;
const running = { custody, ...(issuer ? { issuer } : {}), ...(pert ? { pert } : {}) };
const ops = await startOps({
  process: 'simulators',
  host: config.SVERKA_OPS_HOST,
  port: config.SVERKA_OPS_PORT,
  checks: Object.entries(running).map(([name, { url }]) => ({
    name,
    required: true,
    check: () => listening(url),
  })),
  metrics: () => metrics.text(),
});

await runUntilStopped({
  log,
  stop: async () => {
    ops.shuttingDown();
    await Promise.all(Object.values(running).map((simulator) => simulator.close()));
    await pool.end();
    await ops.close();
  },
});

function readSettings(json: string | undefined): z.infer<typeof settingsSchema> {
  const parsed = z
    .string({ error: 'missing; npm start sets it' })
    .transform((value, context) => {
      try {
        return JSON.parse(value) as unknown;
      } catch {
        context.addIssue('is not JSON');
        return z.NEVER;
      }
    })
    .pipe(settingsSchema)
    .safeParse(json);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path, message }) => `  ${['SVERKA_SIMULATORS', ...path].join('.')}: ${message}`,
  );
  throw new Error(`The simulators cannot be started:\n${problems.join('\n')}`);
}

/** Counts the worker's transactions that are older than a request; by the database's clock alone. */
async function countOpenTransactions(olderThanMs: number): Promise<number> {
  const { rows } = await pool.query<{ open: number }>(
    `SELECT count(*)::int AS open FROM pg_stat_activity
     WHERE application_name LIKE 'sverka-worker%'
       AND xact_start < clock_timestamp() - make_interval(secs => $1::double precision / 1000)`,
    [olderThanMs],
  );
  return rows[0]?.open ?? 0;
}

async function listening(url: string): Promise<string | null> {
  const answer = await fetch(`${url}/_sim/faults`).catch(() => null);
  return answer?.ok ? null : 'refused';
}
