import { randomUUID } from 'node:crypto';
import { type Answer, type Call, http, type Json, until } from './http.js';
import type { Expect, StoryRun } from './story.js';

/** The people of the chapter about cards: a merchant's code, and the issuer as the simulator plays it. */
export interface CardStage {
  readonly run: StoryRun;
  readonly expect: Expect;
  /** A call of the merchant; every answer is remembered. */
  readonly api: (path: string, call?: Call) => Promise<Answer>;
  /** Drives the simulated issuer, and the custodian that the merchant's money comes from. */
  readonly issuer: (path: string, call?: Call) => Promise<Answer>;
  readonly custodian: (path: string, call?: Call) => Promise<Answer>;
  /** Everything that the gateway has answered in this chapter. */
  readonly answers: readonly string[];
  /** The cards that this chapter has asked for, as they were answered last. */
  readonly asked: Map<string, Json>;
}

export function createCardStage(run: StoryRun, expect: Expect): CardStage {
  const merchant = run.merchants.find((each) => each.book === 'live');
  const [issuer, custody] = [run.simulators['issuer'], run.simulators['custody']];
  if (!merchant || !issuer || !custody) throw new Error('the run has no live merchant, or no simulated issuer');
  const answers: string[] = [];
  return {
    run,
    expect,
    answers,
    asked: new Map(),
    issuer: (path, call) => http(`${issuer.url}/_sim${path}`, call),
    custodian: (path, call) => http(`${custody.url}/_sim${path}`, call),
    async api(path, call) {
      const answer = await http(`${run.gatewayUrl}/v1${path}`, { apiKey: merchant.apiKey, ...call });
      answers.push(JSON.stringify([...answer.headers]) + JSON.stringify(answer.body.value));
      return answer;
    },
  };
}

/** `POST` under a key of its own. */
export function create(
  { api }: CardStage,
  path: string,
  { body, prefer, key = randomUUID() }: { body: unknown; prefer?: string; key?: string },
): Promise<Answer> {
  const headers = { 'idempotency-key': key, ...(prefer === undefined ? {} : { prefer }) };
  return api(path, { method: 'POST', body, headers });
}

export interface Wish {
  readonly cardholder: string;
  /** Dollars. */
  readonly load: string;
  readonly product?: 'instant' | 'async';
  readonly prefer?: string;
  readonly key?: string;
}

/** Asks for a card. The id is there from the reserve on, in the body or in the `Location` of a refusal. */
export async function issue(stage: CardStage, wish: Wish): Promise<{ answer: Answer; id: string }> {
  const { cardholder, load, product = 'instant', ...how } = wish;
  const body = { cardholder_id: cardholder, product, load: { amount: load, asset: 'USD' } };
  const answer = await create(stage, '/cards', { body, ...how });
  const id = (answer.headers.get('location') ?? '').split('/').at(-1) ?? '';
  stage.asked.set(id, await card(stage, id));
  return { answer, id };
}

/** The card as the API shows it. */
export async function card(stage: CardStage, id: string): Promise<Json> {
  const { body } = await stage.api(`/cards/${id}`);
  stage.asked.set(id, body);
  return body;
}

/** `<card's state> <issuance's state>` once the issuance is in one of these states. */
export function stands(stage: CardStage, id: string, states: readonly string[]): Promise<string | null> {
  return until(async () => {
    const found = await card(stage, id);
    const state = found.at('issuance', 'state').text;
    return states.includes(state) ? `${found.at('state').text} ${state}` : null;
  });
}

/** What the merchant may spend, in cents. */
export async function spendable({ api }: CardStage): Promise<bigint> {
  const balances = (await api('/wallet')).body.at('balances').list;
  const found = balances.find((balance) => balance.at('asset').text === 'USD');
  return centsOf(found?.at('available').at('amount').text ?? '0.00');
}

/** `1.25` is 125n. */
export function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

/** 125n is `1.25`. */
export function dollars(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Makes the issuer fail in this way until `mend`, or as often as said. */
export async function fault({ issuer }: CardStage, body: object): Promise<string> {
  return (await issuer('/faults', { method: 'POST', body })).body.at('id').text;
}

export async function mend({ issuer }: CardStage, id: string): Promise<void> {
  await issuer(`/faults/${id}`, { method: 'DELETE' });
}

/** True once the issuer has made this fault: one that met nothing would prove nothing. */
export function met({ issuer }: CardStage, id: string): Promise<true | null> {
  return until(async () => {
    const found = (await issuer('/faults')).body.at('faults').list.find((each) => each.at('id').text === id);
    return Number(found?.at('hits').value ?? 0) > 0 ? true : null;
  }, 15_000);
}

/** How many cards the issuer has made for that issuance of ours. */
export async function madeFor({ issuer }: CardStage, issuanceId: string): Promise<number> {
  const effects = (await issuer('/truth')).body.at('effects').list;
  return effects.filter((effect) => effect.at('reference').text === issuanceId).length;
}
