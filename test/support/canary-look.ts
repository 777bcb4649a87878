import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import type { ProductFolder, RunningProduct } from './running-product.js';

/** Everything that a running product keeps or shows, as texts by where they stand. */
export async function lookEverywhere(folder: ProductFolder, product: RunningProduct): Promise<Map<string, string>> {
  return new Map([
    ...(await dump(product)),
    ...(await temporal(product)),
    ...files(folder.state),
    ...(await pages(product)),
    ['output of the start', product.output()],
  ]);
}

/** Every column of every table, as text and as bytes. */
async function dump(product: RunningProduct): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: product.run().databaseUrl });
  await client.connect();
  const found = new Map<string, string>();
  const { rows } = await client.query<{ name: string; columns: string[]; bytes: string[] }>(
    `select c.oid::regclass::text as name, array_agg(a.attname::text) as columns,
            array_agg(a.attname::text) filter (where a.atttypid = 'bytea'::regtype) as bytes
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'm') and n.nspname not in ('pg_catalog', 'information_schema') group by c.oid`,
  );
  for (const { name, columns, bytes } of rows) {
    const texts = columns.map((column) => `"${column}"::text`);
    const raw = (bytes ?? []).map((column) => `encode("${column}", 'escape')`);
    const table = await client.query({
      text: `select ${[...texts, ...raw].join(', ')} from ${name}`,
      rowMode: 'array',
    });
    if (table.rows.length > 0) found.set(`table ${name}`, JSON.stringify(table.rows).replaceAll('\\"', '"'));
  }
  await client.end();
  return found;
}

/** Every run of the namespace, and every schedule: histories, memos, search attributes, headers, failures. */
async function temporal(product: RunningProduct): Promise<Map<string, string>> {
  const { temporalAddress, temporalNamespace: namespace } = product.run();
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection, namespace });
  const found = new Map<string, string>();
  for await (const { workflowId, runId } of client.workflow.list()) {
    const execution = { workflowId, runId };
    const described = await client.workflowService.describeWorkflowExecution({ namespace, execution });
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    found.set(`history ${workflowId} ${runId}`, plainTexts([workflowId, described, history]).join('\n'));
  }
  for await (const { scheduleId } of client.schedule.list()) {
    const described = await client.workflowService.describeSchedule({ namespace, scheduleId });
    found.set(`schedule ${scheduleId}`, plainTexts(described).join('\n'));
  }
  await connection.close();
  return found;
}

/** Every text in a message of Temporal, what payloads hold too. */
function plainTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => [name, ...plainTexts(inside)]);
}

/** What the product has written beside its databases, logs of every process first; the simulators' world is theirs. */
function files(state: string): Map<string, string> {
  const found = new Map<string, string>();
  const read = (at: string) => {
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      if (at === state && /^(simulators|postgres.*|bundles)$/.test(name)) continue;
      const kind = statSync(path, { throwIfNoEntry: false });
      if (kind?.isDirectory()) read(path);
      else if (kind?.isFile()) found.set(`file ${path.slice(state.length)}`, contentOf(path));
    }
  };
  read(state);
  return found;
}

/** Nothing of one that has gone since it was listed: SQLite's journal comes and goes. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

async function pages(product: RunningProduct): Promise<Map<string, string>> {
  const { gatewayUrl, relayUrl, opsUrls, metricsUrls } = product.run();
  const shown = ['/docs', '/openapi.json', '/problems/validation'].map((path) => gatewayUrl + path);
  const ops = Object.values(opsUrls ?? {}).flatMap((url) =>
    ['/livez', '/readyz', '/metrics'].map((path) => url + path),
  );
  const found = new Map<string, string>();
  for (const url of [...shown, ...ops, ...Object.values(metricsUrls ?? {}), `${relayUrl}/`]) {
    const answer = await fetch(url);
    found.set(`page ${url}`, JSON.stringify([...answer.headers]) + (await answer.text()));
  }
  return found;
}
