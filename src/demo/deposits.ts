import { createHmac, randomUUID } from 'node:crypto';
import { commandLine } from './command-line.js';
import { type Answer, type Call, http, type Json, until } from './http.js';
import type { Expect, StoryRun } from './story.js';

/** The people of this chapter: a merchant's code, and the custodian as the simulator plays it. */
interface Stage {
  readonly run: StoryRun;
  readonly expect: Expect;
  /** A call of the merchant. */
  readonly api: (path: string, call?: Call) => Promise<Answer>;
  /** Drives the simulated custodian. */
  readonly custodian: (path: string, call?: Call) => Promise<Answer>;
}

/** Deposits arrive, get lost, doubled and forged, the worker is killed in the middle, and each is credited once. */
export async function playDeposits(run: StoryRun, expect: Expect): Promise<void> {
  const merchant = run.merchants.find((each) => each.book === 'live');
  const simulator = run.simulators['custody'];
  if (!merchant || !simulator) throw new Error('the run has no live merchant or no simulated custodian');
  const stage: Stage = {
    run,
    expect,
    api: (path, call) => http(`${run.gatewayUrl}/v1${path}`, { apiKey: merchant.apiKey, ...call }),
    custodian: (path, call) => http(`${simulator.url}/_sim${path}`, call),
  };
  const before = await available(stage, 'USDT-TRC20');
  const address = await askForAddress(stage);

  await arrives(stage, address);
  await doubled(stage, address);
  await confirmsSlowly(stage, address);
  await forged(stage);
  await lost(stage, address);
  await workerKilled(stage, address);
  await settled(stage);
  await decided(stage, address);
  await balanced(stage, { before, address });
}

async function askForAddress({ api, expect }: Stage): Promise<string> {
  const body = { network: 'tron', customer_ref: `story-${randomUUID().slice(0, 8)}` };
  const key = randomUUID();
  const first = await api('/deposit-addresses', { method: 'POST', body, headers: { 'idempotency-key': key } });
  expect(
    'a merchant asks for a permanent deposit address',
    '201 active',
    `${first.status} ${first.body.at('state').text}`,
  );
  const again = await api('/deposit-addresses', { method: 'POST', body, headers: { 'idempotency-key': key } });
  expect('asking again with the same key gives the same', first.body.at('id').text, again.body.at('id').text);
  const other = { ...body, network: 'bitcoin' };
  const reused = await api('/deposit-addresses', { method: 'POST', body: other, headers: { 'idempotency-key': key } });
  expect(
    'the same key with another call is refused',
    '422 idempotency_key_reused',
    `${reused.status} ${reused.body.at('code').text}`,
  );
  return first.body.at('address').text;
}

async function arrives(stage: Stage, address: string): Promise<void> {
  const ref = await send(stage, { address, amount: '25' });
  stage.expect('25 USDT arrive and the custodian notifies', 'final 25.000000', await outcome(stage, ref));
}

async function doubled(stage: Stage, address: string): Promise<void> {
  const { custodian, expect } = stage;
  const ref = await underFault(stage, 'double', () => send(stage, { address, amount: '10.5' }));
  const seen = await outcome(stage, ref);
  for (const webhook of (await custodian('/truth')).body.at('webhooks').list.slice(-3)) {
    await custodian(`/webhooks/${webhook.at('event_id').text}/resend`, { method: 'POST' });
  }
  expect('a doubled notification, and three repeated', 'final 10.500000', seen);
  expect('… are one movement', '1', String((await movementsOf(stage, ref)).length));
}

async function confirmsSlowly(stage: Stage, address: string): Promise<void> {
  const { expect, custodian } = stage;
  const ref = await send(stage, { address, amount: '40', status: 'confirming', confirmations: 1 });
  expect('40 USDT wait for confirmations', 'confirming', await outcome(stage, ref, ['confirming']));
  await custodian(`/deposits/${ref}`, { method: 'PATCH', body: { status: 'completed', confirmations: 20 } });
  expect('… and are credited when confirmed', 'final 40.000000', await outcome(stage, ref));
}

async function forged(stage: Stage): Promise<void> {
  const { run, expect } = stage;
  const hook = run.hooks.find((each) => each.provider === 'custody' && each.book === 'live');
  if (!hook) throw new Error('the run has no live webhook endpoint');
  const body = JSON.stringify({
    event_id: randomUUID(),
    type: 'deposit.changed',
    object_id: `cdp_${randomUUID()}`,
    occurred_at: new Date(),
  });
  const bad = await notify(hook.url, { body, secret: 'a secret of somebody else, long enough to sign' });
  expect('a forged notification', '401', String(bad));
  const good = await notify(hook.url, { body, secret: hook.secrets[0] ?? '' });
  expect('a signed one about a deposit that nobody knows', '200', String(good));
}

async function lost(stage: Stage, address: string): Promise<void> {
  const { expect } = stage;
  const ref = await underFault(stage, 'drop', async () => {
    const sent = await send(stage, { address, amount: '7.25' });
    await reconcile();
    return sent;
  });
  expect('a lost notification; the reconciliation finds the deposit', 'final 7.250000', await outcome(stage, ref));
  expect('… and changes nothing when it runs again', '0', await reconcile());
}

/** Runs the hourly reconciliation now, as an operator would; answers how many deposits it changed. */
async function reconcile(): Promise<string> {
  return (await commandLine('schedules', 'run', 'deposit-reconcile:live:custody', '--yes')).at('result', 'changed')
    .text;
}

async function workerKilled(stage: Stage, address: string): Promise<void> {
  const { run, custodian, expect } = stage;
  const pid = run.pids['worker'];
  if (pid === undefined) throw new Error('the run has no worker');
  const ref = await send(stage, { address, amount: '100', status: 'confirming', confirmations: 1 });
  await outcome(stage, ref, ['confirming']);
  const match = { method: 'GET', path: `/v1/deposits/${ref}` };
  const slow = await custodian('/faults', { method: 'POST', body: { match, fault: 'slow', ms: 1_500, times: 1 } });
  await custodian(`/deposits/${ref}`, { method: 'PATCH', body: { status: 'completed', confirmations: 20 } });
  const asking = await hits(stage, slow.body.at('id').text);
  process.kill(pid, 'SIGKILL');
  // It has slowed the one call that it was for.
  await custodian(`/faults/${slow.body.at('id').text}`, { method: 'DELETE' });
  const state = (await find(stage, ref, ['confirming', 'final']))?.at('state').text;
  const seen = asking ? `while it was asking, ${state}` : null;
  expect('the worker is killed between reading and crediting', 'while it was asking, confirming', seen);
  expect('… and 100 USDT are credited by the next one', 'final 100.000000', await outcome(stage, ref));
  expect('… once', '1', String((await movementsOf(stage, ref)).length));
}

async function settled(stage: Stage): Promise<void> {
  const { api, expect } = stage;
  const body = {
    network: 'ethereum',
    asset: 'USDC-ETH',
    customer_ref: `story-${randomUUID().slice(0, 8)}`,
    settlement: { mode: 'settled', asset: 'USD' },
  };
  const made = await api('/deposit-addresses', { method: 'POST', body, headers: { 'idempotency-key': randomUUID() } });
  const ref = await send(stage, { address: made.body.at('address').text, amount: '12.345678' });
  const deposit = await until(() => find(stage, ref, ['final']));
  expect('12.345678 USDC settle in dollars', 'USD', deposit?.at('credited', 'asset').text ?? null);
}

/** What we cannot book goes to a person, who decides under an own login, bound to what was seen. */
async function decided(stage: Stage, address: string): Promise<void> {
  const { custodian, expect } = stage;
  const ref = await send(stage, { address, amount: '1.2345678' });
  const parked = await until(() => find(stage, ref, ['parked']));
  expect(
    'an amount finer than the token is parked for a person',
    'amount_too_precise',
    parked?.at('reason').text ?? null,
  );
  await custodian(`/deposits/${ref}`, { method: 'PATCH', body: { amount: '1.5' } });
  // The correction has to be seen before anybody can decide on it.
  await until(async () =>
    (await find(stage, ref, ['parked']))?.at('reported', 'amount').text === '1.5' ? true : null,
  );
  const why = ['--reason', 'corrected by the custodian', '--as', 'operator', '--yes'];
  await commandLine('deposits', 'decide', parked?.at('id').text ?? '', '--retry', ...why);
  expect(
    '… the custodian corrects it and an operator lets it be tried again',
    'final 1.500000',
    await outcome(stage, ref),
  );
}

/** Their truth against ours, both ways, and the books against the statement. */
async function balanced(stage: Stage, { before, address }: { before: string; address: string }): Promise<void> {
  const { api, custodian, expect } = stage;
  const truth = await custodian('/truth');
  const theirs = Object.values(
    Object(truth.body.at('objects', 'deposits').value) as Record<string, Record<string, unknown>>,
  )
    .filter((deposit) => deposit['address'] === address && deposit['status'] === 'completed')
    .map((deposit) => String(deposit['id']))
    .sort();
  const ours = (await api('/deposits?limit=100')).body
    .at('data')
    .list.filter((deposit) => deposit.at('state').text === 'final')
    .map((deposit) => deposit.at('provider_ref').text)
    .filter((ref) => theirs.includes(ref))
    .sort();
  const [all, met] = [theirs.length, theirs.filter((ref) => ours.includes(ref)).length];
  expect('every completed deposit of theirs is one of ours', `${all} of ${all}`, `${met} of ${all}`);
  expect(
    "the merchant's own wallet is untouched by his customers' deposits",
    before,
    await available(stage, 'USDT-TRC20'),
  );
  const verified = await commandLine('ledger', 'verify', '--full');
  expect(
    'the books, rebuilt from their entries, hold',
    '0 findings',
    `${verified.at('findings').list.length} findings`,
  );
}

async function send({ custodian }: Stage, deposit: Record<string, unknown>): Promise<string> {
  return (await custodian('/deposits', { method: 'POST', body: deposit })).body.at('id').text;
}

/** Does something while the custodian's notifications go wrong; a fault that met nothing would prove nothing. */
async function underFault<T>(stage: Stage, fault: string, act: () => Promise<T>): Promise<T> {
  const body = { match: { event_type: 'deposit.changed' }, fault };
  const id = (await stage.custodian('/faults', { method: 'POST', body })).body.at('id').text;
  const result = await act();
  const met = await hits(stage, id);
  await stage.custodian(`/faults/${id}`, { method: 'DELETE' });
  if (!met) stage.expect(`the fault "${fault}" met a notification`, 'yes', 'no');
  return result;
}

/** True once the custodian has made this fault. */
function hits({ custodian }: Stage, id: string): Promise<true | null> {
  return until(async () => {
    const faults = (await custodian('/faults')).body.at('faults').list;
    const mine = faults.find((fault) => fault.at('id').text === id);
    return Number(mine?.at('hits').value ?? 0) > 0 ? true : null;
  }, 10_000);
}

async function notify(url: string, { body, secret }: { body: string; secret: string }): Promise<number> {
  const time = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  const headers = { 'x-custody-signature': `t=${time},v1=${signature}` };
  return (await http(url, { method: 'POST', body, headers })).status;
}

async function find({ api }: Stage, ref: string, states: readonly string[]): Promise<Json | null> {
  const { body } = await api('/deposits?limit=100');
  const found = body.at('data').list.find((deposit) => deposit.at('provider_ref').text === ref);
  return found && states.includes(found.at('state').text) ? found : null;
}

/** `<state> <credited amount>` once it is in one of these states. */
async function outcome(stage: Stage, ref: string, states: readonly string[] = ['final']): Promise<string | null> {
  const deposit = await until(() => find(stage, ref, states));
  if (!deposit) return null;
  const amount = deposit.at('credited', 'amount').value;
  return [deposit.at('state').text, amount].filter((part) => typeof part === 'string').join(' ');
}

async function movementsOf(stage: Stage, ref: string): Promise<Json[]> {
  const deposit = await find(stage, ref, ['final']);
  const query = `subject_type=deposit&subject_id=${deposit?.at('id').text}&kind=deposit_credit`;
  return (await stage.api(`/movements?${query}`)).body.at('data').list;
}

async function available({ api }: Stage, asset: string): Promise<string> {
  const balances = (await api('/wallet')).body.at('balances').list;
  return balances.find((balance) => balance.at('asset').text === asset)?.at('available', 'amount').text ?? '0';
}
