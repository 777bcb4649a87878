import { randomUUID } from 'node:crypto';
import { commandLine } from './command-line.js';
import { http, type Json, until } from './http.js';
import type { Expect, StoryRun } from './story.js';

const CURRENCY = 'USDT';
const LOST = 10;
/** More than the journal keeps below. */
const ASLEEP = 20;
const KEPT = 5;

interface Stage {
  readonly run: StoryRun;
  readonly expect: Expect;
  readonly apiKey: string;
  readonly provider: string;
  readonly source: string;
  /** Addresses of this story alone: simulators outlive a run. */
  readonly treasury: string;
  readonly shop: string;
}

/** A provider holds balances for the merchant: the mirror shows them, and comes back from whatever it missed. */
export async function playBalances(run: StoryRun, expect: Expect): Promise<void> {
  const source = run.sources?.find(({ book }) => book === 'live');
  const provider = run.simulators['pert'];
  const apiKey = run.merchants.find(({ id }) => id === source?.merchantId)?.apiKey;
  if (!source || !provider || !apiKey) throw new Error('the run has no live source of balances, or nobody who owns it');
  const tag = randomUUID().slice(0, 8);
  const addresses = { treasury: `treasury-${tag}`, shop: `shop-${tag}` };
  const stage = { run, expect, apiKey, provider: provider.url, source: source.source, ...addresses };
  await told(stage);
  await lost(stage);
  await asleep(stage);
}

async function told(stage: Stage): Promise<void> {
  const { expect } = stage;
  await move(stage, { from: null, to: stage.treasury, amount: '1000' });
  await commandLine('balances', 'check', stage.source);
  await move(stage, { from: stage.treasury, to: stage.shop, amount: '25.5' });
  const shown = await until(async () => ((await shopBalance(stage)) === '25.5' ? '25.5' : null));
  expect('a webhook tells of 25.5: shown at once', '25.5', shown);
}

async function lost(stage: Stage): Promise<void> {
  const { expect, provider } = stage;
  const fault = { fault: 'drop', match: { reference: stage.shop } };
  const { body } = await http(`${provider}/_sim/faults`, { method: 'POST', body: fault });
  for (let n = 0; n < LOST; n += 1) await move(stage, { from: null, to: stage.shop, amount: '1' });
  await http(`${provider}/_sim/faults/${body.at('id').text}`, { method: 'DELETE' });
  expect('ten webhooks are lost: nothing is shown of them', '25.5', await shopBalance(stage));
  expect('… a check finds it, and the journal fills it in', 'healed', await checked(stage, 'healed'));
  expect('… to the cent', '35.5', await shopBalance(stage));
}

async function asleep(stage: Stage): Promise<void> {
  const { expect, provider } = stage;
  const fault = { fault: 'drop', match: { reference: stage.shop } };
  const { body } = await http(`${provider}/_sim/faults`, { method: 'POST', body: fault });
  for (let n = 0; n < ASLEEP; n += 1) await move(stage, { from: null, to: stage.shop, amount: '1' });
  await http(`${provider}/_sim/retention`, { method: 'POST', body: { keep: KEPT } });
  await http(`${provider}/_sim/faults/${body.at('id').text}`, { method: 'DELETE' });
  const result = await checked(stage, 'rebased');
  expect('after a long sleep the journal no longer reaches: a fresh snapshot', 'rebased', result);
  const row = (await list(stage, '?currency=USDT')).list[0];
  expect('… is what the sums rest on', '0', row?.at('difference').text ?? null);
  expect('… addresses are stale until they are seen again', 'true', await staleOf(stage));
  await move(stage, { from: stage.treasury, to: stage.shop, amount: '0.5' });
  const seen = await until(async () => ((await staleOf(stage)) === 'false' ? 'false' : null));
  expect('… which they are with their next transaction', 'false', seen);
}

/** Asks for a check; where the clock has had one just before, its result is that one's. */
async function checked(stage: Stage, wanted: string): Promise<string> {
  const check = await commandLine('balances', 'check', stage.source);
  const before = await commandLine('balances', 'history', '--source', stage.source, '--limit', '2');
  const results = before.at('data').list.map((each) => each.at('result').text);
  return results.includes(wanted) ? wanted : check.at('result').text;
}

async function move({ provider }: Stage, body: { from: string | null; to: string | null; amount: string }) {
  await http(`${provider}/_sim/transactions`, { method: 'POST', body: { ...body, currency: CURRENCY, book: 'live' } });
}

async function list({ run, apiKey }: Stage, query: string): Promise<Json> {
  return (await http(`${run.gatewayUrl}/v1/balances${query}`, { apiKey })).body.at('data');
}

async function shopBalance({ run, apiKey, shop }: Stage): Promise<string> {
  const { body } = await http(`${run.gatewayUrl}/v1/balances/${shop}`, { apiKey });
  return body.at('data', 0, 'balance').text;
}

async function staleOf({ run, apiKey, shop }: Stage): Promise<string> {
  const { body } = await http(`${run.gatewayUrl}/v1/balances/${shop}`, { apiKey });
  return body.at('data', 0, 'stale').text;
}
