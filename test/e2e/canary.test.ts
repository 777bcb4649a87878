import { createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import pg from 'pg';
import { maskIssuerWebhook } from '../../src/providers/issuer/webhook.js';
import { eventually, type ProductFolder, productFolder, type RunningProduct } from '../support/running-product.js';
import { CANARY_CARDS } from '../support/tidy-text-rules.js';

const WITHIN_MS = 240_000;
const [CARD = '', OTHER_CARD = '', THIRD_CARD = ''] = CANARY_CARDS;
const CODE = '98765';
/** Words that nothing else here says. */
const PERSON = {
  first_name: 'Canariafirst',
  last_name: 'Canarialast',
  birth_date: '1971-03-17',
  country: 'DE',
  document: 'CANARYDOC77',
};
const SECRETS = [
  ...[CARD, OTHER_CARD, THIRD_CARD, `"cvv":"${CODE}"`, `"cvc":"${CODE}"`],
  ...[PERSON.first_name, PERSON.last_name, PERSON.birth_date, PERSON.document],
];

let folder: ProductFolder;
let product: RunningProduct;
/** Every answer that anybody was given. */
const answers: string[] = [];

beforeAll(async () => {
  folder = productFolder();
  product = await folder.start(['--no-story']);
}, WITHIN_MS);
afterAll(async () => {
  await product?.stop();
  folder?.remove();
}, WITHIN_MS);

interface Told {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly id: string };
  readonly location: string;
}

async function call(method: string, url: string, how: { body?: string; headers?: object } = {}): Promise<Told> {
  const { body, headers = {} } = how;
  const init = { method, headers: { 'content-type': 'application/json', ...headers } };
  const answer = await fetch(url, body === undefined ? init : { ...init, body });
  const text = await answer.text();
  answers.push(`${JSON.stringify([...answer.headers])}${text}`);
  const location = answer.headers.get('location') ?? '';
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : { id: '' }, location };
}

/** A call of the merchant, with canaries in headers that nobody asked for. */
function api(method: string, path: string, how: { body?: unknown; key?: string; headers?: object } = {}) {
  const { gatewayUrl, merchants } = product.run();
  const headers = {
    authorization: `Bearer ${merchants.find(({ book }) => book === 'live')?.apiKey}`,
    'idempotency-key': how.key ?? randomUUID(),
    'user-agent': `shop/1 ${CARD}`,
    'x-card': CARD,
    prefer: 'wait=10',
    ...how.headers,
  };
  const { body } = how;
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  return call(method, `${gatewayUrl}/v1${path}`, { headers, ...(text === undefined ? {} : { body: text }) });
}

function simulator(name: string, path: string, body: unknown) {
  const url = product.run().simulators?.[name]?.url ?? '';
  return fetch(`${url}/_sim${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function hook(provider: string, body: string): Promise<number> {
  const found = product.run().hooks.find((each) => each.provider === provider && each.book === 'live');
  const t = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', found?.secrets[0] ?? '')
    .update(`${t}.${body}`)
    .digest('hex');
  const headers = { [found?.signatureHeader ?? 'x']: `t=${t},v1=${v1}`, 'x-request-id': CARD, 'user-agent': CARD };
  return (await call('POST', found?.url ?? '', { body, headers })).status;
}

async function fund(): Promise<void> {
  const terms = { network: 'ethereum', asset: 'USDC-ETH', settlement: { mode: 'settled', asset: 'USD' } };
  const { body } = await api('POST', '/deposit-addresses', { body: terms });
  await simulator('custody', '/deposits', { address: body['address'], amount: '900', status: 'completed' });
  await eventually('the wallet has money', async () => {
    const wallet = await api('GET', '/wallet');
    return JSON.stringify(wallet.body).includes('"900.00"');
  });
}

async function settle(path: string, states: readonly string[]): Promise<void> {
  await eventually('the card is settled', async () => states.includes(String((await api('GET', path)).body['state'])));
}

/** Every flow there is around a card, with an identity that must not be seen again. */
async function playCards(): Promise<void> {
  const holder = (await api('POST', '/cardholders', { body: { ...PERSON, reference: 'client-1' } })).body.id;
  await api('PATCH', `/cardholders/${holder}`, { body: { last_name: `${PERSON.last_name}b` } });
  const wish = (product_: string) => ({
    cardholder_id: holder,
    product: product_,
    load: { amount: '10.00', asset: 'USD' },
  });
  const quick = await api('POST', '/cards', { body: wish('instant') });
  expect(quick.status).toBe(201);
  const slow = await api('POST', '/cards', { body: wish('async') });
  await settle(slow.location.slice(3), ['active']);
  await simulator('issuer', '/faults', {
    match: { method: 'POST', path: '/v1/cards' },
    fault: 'lost_answer',
    times: 1,
  });
  const lost = await api('POST', '/cards', { body: wish('instant') });
  await settle(lost.location.slice(3), ['active']);
  await simulator('issuer', '/faults', { match: { method: 'POST' }, fault: 'garbage', times: 1 });
  await api('POST', '/cards', { body: wish('instant'), headers: { prefer: 'wait=1' } });
  const refused = await api('POST', '/cardholders', { body: { ...PERSON, document: `DECLINE:${PERSON.document}` } });
  expect((await api('POST', '/cards', { body: { ...wish('instant'), cardholder_id: refused.body.id } })).status).toBe(
    402,
  );
  await api('POST', `/cards/${quick.body.id}/loads`, { body: { amount: { amount: '5.00', asset: 'USD' } } });
  for (const change of ['freeze', 'unfreeze', 'close'])
    await api('POST', `/cards/${quick.body.id}/${change}`, { body: {} });
  await api('DELETE', `/cardholders/${refused.body.id}`);
}

/** Card data at every place where somebody outside may put it. */
async function putEverywhere(): Promise<void> {
  const data = { pan: CARD, cvv: CODE, cvc: CODE, holder: PERSON, number: OTHER_CARD };
  const event = { event_id: randomUUID(), occurred_at: new Date().toISOString(), reference: null, card_id: 'crd_1' };
  const escaped = JSON.stringify({ ...event, type: 'card.issued', note: CARD }).replace(
    CARD,
    `\\u0034${CARD.slice(1)}`,
  );
  const bodies = [
    JSON.stringify({ ...event, type: 'card.issued', card: data, ...data }),
    JSON.stringify({ ...event, event_id: CARD, type: 'card.changed' }),
    JSON.stringify({ ...event, event_id: randomUUID(), type: 'card.changed', card_id: OTHER_CARD }),
    JSON.stringify({ ...event, event_id: randomUUID(), type: 'authorization.approved', ...data }),
    escaped,
    `{"event_id":"x","pan":"${CARD}"`,
  ];
  for (const body of bodies) expect(await hook('issuer', body)).toBe(200);
  const custody = { event_id: randomUUID(), type: 'deposit.changed', object_id: 'cdp_none', occurred_at: 'x' };
  expect(await hook('custody', JSON.stringify({ ...custody, pan: THIRD_CARD, cvv: CODE }))).toBe(200);
  for (const path of ['/cards', '/cardholders', '/deposit-addresses']) {
    for (const body of [
      data,
      { ...PERSON, pan: CARD },
      { reference: CARD, load: CARD, network: CARD },
      `{"pan":"${CARD}"`,
    ]) {
      expect([400, 404]).toContain((await api('POST', path, { body })).status);
    }
    await api('GET', `${path}?last4=${CARD}&state=${CARD}&card_number=${CARD}`);
    await api('GET', `${path}/${CARD}`);
  }
  const named = { ...PERSON, reference: `card ${CARD}` };
  expect((await api('POST', '/cardholders', { body: named })).status).toBe(400);
  expect((await api('POST', '/deposit-addresses', { body: { network: 'tron', customer_ref: CARD } })).status).toBe(400);
  expect((await api('POST', '/cardholders', { body: PERSON, key: CARD })).status).toBe(400);
}

/** Every column of every table, as text and as bytes. */
async function dump(): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: product.run().databaseUrl });
  await client.connect();
  const found = new Map<string, string>();
  const { rows } = await client.query<{ name: string; columns: string[]; bytes: string[] }>(
    `select c.oid::regclass::text as name, array_agg(a.attname::text) as columns,
            array_agg(a.attname::text) filter (where a.atttypid = 'bytea'::regtype) as bytes
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema') group by c.oid`,
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

async function histories(): Promise<Map<string, string>> {
  const connection = await Connection.connect({ address: product.run().temporalAddress });
  const client = new Client({ connection });
  const found = new Map<string, string>();
  for await (const { workflowId, runId } of client.workflow.list()) {
    const text = historyToJSON(await client.workflow.getHandle(workflowId, runId).fetchHistory());
    const plain = text.replace(/"data": ?"([A-Za-z0-9+/=]*)"/g, (_, data: string) =>
      Buffer.from(data, 'base64').toString(),
    );
    found.set(`history ${workflowId}`, plain);
  }
  await connection.close();
  return found;
}

/** What the product has written beside its databases; the simulators' own world is the issuer's. */
function files(at: string, found = new Map<string, string>()): Map<string, string> {
  for (const name of readdirSync(at)) {
    const path = join(at, name);
    if (/^(simulators|postgres.*|bundles)$/.test(name)) continue;
    if (statSync(path).isDirectory()) files(path, found);
    else found.set(`file ${path.slice(folder.state.length)}`, readFileSync(path, 'latin1'));
  }
  return found;
}

async function pages(): Promise<Map<string, string>> {
  const { gatewayUrl, opsUrls, metricsUrls } = product.run();
  const paths = ['/docs', '/openapi.json', '/problems/validation', `/problems/${CARD}`].map(
    (path) => gatewayUrl + path,
  );
  const ops = Object.values(opsUrls ?? {}).flatMap((url) => [`${url}/readyz`, `${url}/metrics`]);
  const found = new Map<string, string>();
  for (const url of [...paths, ...ops, ...Object.values(metricsUrls ?? {})])
    found.set(url, await (await fetch(url)).text());
  return found;
}

function hits(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([where, text]) =>
    SECRETS.filter((secret) => text.includes(secret)).map((secret) => `${secret.slice(0, 6)}… in ${where}`),
  );
}

test(
  'card numbers, codes and identities that are put everywhere are found nowhere [CASES N01]',
  async () => {
    await fund();
    await playCards();
    await putEverywhere();
    const texts = new Map([...(await dump()), ...(await histories()), ...files(folder.state), ...(await pages())]);
    for (const [n, answer] of answers.entries()) texts.set(`answer ${n}`, answer);
    expect(hits(texts)).toEqual([]);
    // What was looked at is there: without it the look is void.
    const places = [...texts.keys()];
    for (const kind of [
      'table sverka.inbox',
      'table sverka.cardholder_member',
      'history issuance:',
      'file /log/worker',
    ]) {
      expect([kind, places.some((place) => place.startsWith(kind))]).toEqual([kind, true]);
    }
    expect(answers.length).toBeGreaterThan(40);
  },
  WITHIN_MS,
);

test('the same look finds them where nothing is masked, and nothing where it is', () => {
  const raw = JSON.stringify({ pan: CARD, cvv: CODE, holder: PERSON });
  expect(hits(new Map([['raw', raw]])).length).toBeGreaterThanOrEqual(5);
  const masked = maskIssuerWebhook(Buffer.from(JSON.stringify({ pan: CARD, cvv: CODE }))).toString();
  expect([masked.includes(CARD.slice(-4)), hits(new Map([['masked', masked]]))]).toEqual([true, []]);
});
