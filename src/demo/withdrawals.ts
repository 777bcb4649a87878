import { randomUUID } from 'node:crypto';
import { http, until } from './http.js';
import { fieldOf, type PageReader, signInAt } from './page-reader.js';
import type { Expect, StoryRun } from './story.js';

const ASSET = 'USDT-TRC20';
const ADDRESS = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE';

interface Stage {
  readonly run: StoryRun;
  readonly expect: Expect;
  readonly apiKey: string;
  readonly custodian: string;
  readonly requester: PageReader;
  readonly approver: PageReader;
  readonly operator: PageReader;
}

/** Money leaves through people: asked for in the cabinet, approved by another in the console, paid once. */
export async function playWithdrawals(run: StoryRun, expect: Expect): Promise<void> {
  const custody = run.simulators['custody'];
  const apiKey = run.merchants.find((each) => each.book === 'live')?.apiKey;
  if (!custody || !apiKey) throw new Error('the run has no live merchant, or no simulated custodian');
  const [requester, approver, operator] = [
    await signInAt(run, 'requester'),
    await signInAt(run, 'approver'),
    await signInAt(run, 'operator'),
  ];
  const stage = { run, expect, apiKey, custodian: custody.url, requester, approver, operator };
  await fund(stage);
  await noWayIn(stage);
  const destination = await addDestination(stage);
  await paidByCustodian(stage, destination);
  await lostAnswer(stage, destination);
  await rejected(stage, destination);
}

/** 40 USDT come in, so that there is something to withdraw. */
async function fund({ run, expect, apiKey, custodian }: Stage): Promise<void> {
  const call = { method: 'POST', apiKey, headers: { 'idempotency-key': randomUUID() } };
  const { body } = await http(`${run.gatewayUrl}/v1/deposit-addresses`, { ...call, body: { network: 'tron' } });
  const before = await available({ run, apiKey });
  const deposit = { address: body.at('address').text, amount: '40', status: 'completed', confirmations: 19 };
  await http(`${custodian}/_sim/deposits`, { method: 'POST', body: deposit });
  const came = await until(async () => ((await available({ run, apiKey })) > before ? 'yes' : null));
  expect('40 USDT come in', 'yes', came);
}

async function noWayIn({ run, expect, apiKey, approver }: Stage): Promise<void> {
  const guesses = ['/v1/withdrawals', '/v1/payouts', '/cabinet/withdrawals', '/operator/withdrawals'];
  const statuses = await Promise.all(
    guesses.map(async (path) => (await http(run.gatewayUrl + path, { method: 'POST', apiKey, body: {} })).status),
  );
  expect('no API asks for a withdrawal, whatever the key', '404 404 404 404', statuses.join(' '));
  const page = await approver.get('/cabinet/withdrawals/new');
  expect('… and who approves has no page that asks for one', '404', String(page.status));
}

async function addDestination({ expect, requester }: Stage): Promise<string> {
  await requester.get('/cabinet/destinations');
  await requester.post('/cabinet/destinations', { label: 'Treasury', network: 'tron', address: ADDRESS, tag: '' });
  const fresh = await requester.get('/cabinet/withdrawals/new');
  const target = fieldOf(fresh, 'target') || (/value="(wdd_[0-9a-z]{26} USDT-TRC20)"/.exec(fresh.text)?.[1] ?? '');
  const usable = await until(async () => {
    const form = await requester.get('/cabinet/withdrawals/new');
    return /type="radio"[^>]*disabled/.test(form.text) ? null : 'yes';
  });
  expect('a new destination waits, then may be paid to', 'yes', usable);
  return target;
}

async function paidByCustodian(stage: Stage, target: string): Promise<void> {
  const { expect, operator, approver, requester } = stage;
  const before = await available(stage);
  const id = await ask(stage, target, '10');
  const held = (before - (await available(stage))).toString();
  expect('10 USDT are asked for: amount and fee are held at once', '11000000', held);
  const refused = await decide(operator, id, { choice: 'approve', route: 'custody' });
  expect('… an operator may not approve it', '403', String(refused));
  const approved = await decide(approver, id, { choice: 'approve', route: 'custody' });
  expect('… a second person does', '303', String(approved));
  expect('… it is paid, and proven by its transaction', 'completed', await ends(requester, id));
  expect('… the custodian has paid once', '1', String(await payouts(stage, id)));
  const late = await decide(operator, id, { choice: 'cancel' });
  expect('… and nothing takes it back', '409', String(late));
}

async function lostAnswer(stage: Stage, target: string): Promise<void> {
  const { expect, approver, custodian } = stage;
  const match = { method: 'POST', path: '/v1/payouts' };
  const fault = { method: 'POST', body: { match, fault: 'lost_answer', times: 1 } };
  const { body } = await http(`${custodian}/_sim/faults`, fault);
  const id = await ask(stage, target, '3');
  await decide(approver, id, { choice: 'approve', route: 'custody' });
  expect(
    'the custodian pays and its answer is lost: found by our reference',
    'completed',
    await ends(stage.requester, id),
  );
  expect('… and paid once', '1', String(await payouts(stage, id)));
  await http(`${custodian}/_sim/faults/${body.at('id').text}`, { method: 'DELETE' });
}

async function rejected(stage: Stage, target: string): Promise<void> {
  const { expect, approver, requester } = stage;
  const before = await available(stage);
  const id = await ask(stage, target, '5');
  await decide(approver, id, { choice: 'reject' });
  expect('a request is rejected', 'rejected', await ends(requester, id));
  expect('… and its money is back', '0', (before - (await available(stage))).toString());
}

/** Fills in the cabinet's form; answers the id of what it led to. */
async function ask({ requester }: Stage, target: string, amount: string): Promise<string> {
  const form = await requester.get('/cabinet/withdrawals/new');
  const fee = { [`fee ${target}`]: fieldOf(form, `fee ${target}`) };
  const { location } = await requester.post('/cabinet/withdrawals', {
    key: fieldOf(form, 'key'),
    target,
    amount,
    ...fee,
  });
  return location.split('/').at(-1) ?? '';
}

/** Opens the console's page and sends its form; answers the status. */
async function decide(who: PageReader, id: string, form: Readonly<Record<string, string>>): Promise<number> {
  const page = await who.get(`/operator/withdrawals/${id}`);
  const bound = { stage: fieldOf(page, 'stage'), seen: fieldOf(page, 'seen') };
  const { status } = await who.post(`/operator/withdrawals/${id}/decisions`, {
    ...bound,
    reason: 'the story',
    ...form,
  });
  return status;
}

const ENDED = { Completed: 'completed', Rejected: 'rejected', Failed: 'failed', Cancelled: 'cancelled' } as const;

/** The state that the merchant's page shows in the end. */
function ends(requester: PageReader, id: string): Promise<string | null> {
  return until(async () => {
    const { text } = await requester.get(`/cabinet/withdrawals/${id}`);
    const word = Object.entries(ENDED).find(([shown]) => new RegExp(`state--pill">.*?</svg>${shown}<`, 's').test(text));
    return word?.[1] ?? null;
  });
}

async function payouts({ custodian }: Stage, reference: string): Promise<number> {
  const { body } = await http(`${custodian}/_sim/truth`);
  return body.at('effects').list.filter((effect) => effect.at('reference').text === reference).length;
}

/** What the merchant may spend, in the asset's smallest unit. */
async function available({ run, apiKey }: Pick<Stage, 'run' | 'apiKey'>): Promise<bigint> {
  const { body } = await http(`${run.gatewayUrl}/v1/wallet`, { apiKey });
  const balance = body.at('balances').list.find((each) => each.at('asset').text === ASSET);
  return BigInt((balance?.at('available', 'amount').text ?? '0').replace('.', ''));
}
