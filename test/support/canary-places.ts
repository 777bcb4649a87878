import { randomUUID } from 'node:crypto';
import type { Strangers } from './canary-calls.js';
import { type canaryMaker, grouped, SPELLINGS } from './canary-cards.js';
import { eventually } from './running-product.js';

/** Who lived here before the numbers: the words of a person that nothing else here says. */
export const PERSON = {
  first_name: 'Canariafirst',
  last_name: 'Canarialast',
  birth_date: '1971-03-17',
  country: 'DE',
  document: 'CANARYDOC77',
};
export const CODE = '98765';

/** One number at one place. */
interface Put {
  readonly surface: string;
  /** Digits of the number; 16 unless said. */
  readonly digits?: number;
  /** Puts it there and answers the status. */
  readonly put: (card: string) => Promise<number>;
  /** What is answered. */
  readonly status: number;
  /** False where nothing is kept or shown anyway, with a redactor or without. */
  readonly needsRedactor: boolean;
}

/** Every place where somebody outside may put a card number. */
export function placesOf(strangers: Strangers): readonly Put[] {
  return [
    ...nameplaces(strangers),
    ...headers(strangers),
    ...bodies(strangers),
    ...notifications(strangers),
    ...answers(strangers),
  ];
}

/** Puts a number of its own at each place. Answers what was not answered as it should be. */
export async function putEverywhere(places: readonly Put[], canaries: ReturnType<typeof canaryMaker>) {
  const otherwise: string[] = [];
  for (const { surface, digits, put, status } of places) {
    const told = await put(canaries.make(surface, digits).card);
    if (told !== status) otherwise.push(`${surface}: ${told}`);
  }
  return otherwise;
}

/** Names are kept as they are given. */
function nameplaces({ api }: Strangers): Put[] {
  const fields: Record<string, (name: string) => Promise<{ status: number }>> = {
    customer_ref: (name) => api('POST', '/deposit-addresses', { body: { network: 'tron', customer_ref: name } }),
    reference: (name) => api('POST', '/cardholders', { body: { ...PERSON, reference: name } }),
    'Idempotency-Key': (name) => api('POST', '/cardholders', { body: PERSON, key: name }),
  };
  const spelled = Object.entries(SPELLINGS).map(([how, spell]) => ({ how, spell, digits: 16 }));
  const lengths = [13, 14, 15, 17, 18, 19].map((digits) => ({ how: `of ${digits}`, spell: String, digits }));
  return Object.entries(fields).flatMap(([field, give]) =>
    [...spelled, ...lengths].map(({ how, spell, digits }) => ({
      surface: `${field} ${how}`,
      digits,
      put: async (card: string) => (await give(spell(card))).status,
      status: 400,
      needsRedactor: true,
    })),
  );
}

function headers({ api, hook }: Strangers): Put[] {
  const traces: Record<string, (card: string) => string> = {
    'before zeros': (card) => card.padEnd(32, '0'),
    'behind letters': (card) => card.padStart(32, 'ab'),
    twice: (card) => card + card,
  };
  const create = (given: Record<string, string>) => async () =>
    (await api('POST', '/deposit-addresses', { body: { network: 'tron', customer_ref: randomUUID() }, headers: given }))
      .status;
  const notify = (given: Record<string, string>) => () => hook('custody', custodyEvent({}), given);
  const kept = { needsRedactor: true };
  return [
    ...Object.entries(traces).flatMap(([how, id]) => [
      { surface: `traceparent ${how}`, put: (card: string) => create(traceOf(id(card)))(), status: 201, ...kept },
      {
        surface: `relay's traceparent ${how}`,
        put: (card: string) => notify(traceOf(id(card)))(),
        status: 200,
        ...kept,
      },
    ]),
    ...Object.entries(SPELLINGS).flatMap(([how, spell]) => [
      {
        surface: `Request-Id ${how}`,
        put: async (card: string) => (await api('GET', '/wallet', { headers: { 'request-id': spell(card) } })).status,
        status: 200,
        ...kept,
      },
      {
        surface: `relay's Request-Id ${how}`,
        put: (card: string) => notify({ 'request-id': spell(card) })(),
        status: 200,
        ...kept,
      },
    ]),
    {
      surface: 'the span of a traceparent',
      put: (card) => create(traceOf('ab'.repeat(16), card))(),
      status: 201,
      needsRedactor: false,
    },
    {
      surface: "relay's headers that nobody asked for",
      put: (card) => notify({ 'user-agent': card, 'x-request-id': card, 'x-card': card })(),
      status: 200,
      needsRedactor: false,
    },
    {
      surface: 'headers that nobody asked for',
      put: (card) => create({ 'user-agent': card, 'x-card': card, prefer: `wait=10, x=${card}` })(),
      status: 201,
      needsRedactor: false,
    },
  ];
}

function bodies({ api }: Strangers): Put[] {
  const refused = (body: unknown) => async () => (await api('POST', '/deposit-addresses', { body })).status;
  const seen = async (path: string) => (await api('GET', path)).status;
  const dropped = { status: 400, needsRedactor: false };
  return [
    {
      surface: 'the name of a member',
      put: (card) => refused({ [`c${grouped(card, '-')}`]: 1 })(),
      status: 400,
      needsRedactor: true,
    },
    {
      surface: 'the name of a parameter',
      put: (card) => seen(`/deposits?c${grouped(card, '_')}=1`),
      status: 400,
      needsRedactor: true,
    },
    { surface: 'the bare name of a member', put: (card) => refused({ [card]: 1 })(), ...dropped },
    { surface: 'a member that is not known', put: (card) => refused({ network: 'tron', pan: card })(), ...dropped },
    { surface: 'a member of another type', put: (card) => refused({ network: card, asset: card })(), ...dropped },
    { surface: 'a body that is cut', put: (card) => refused(`{"network":"${card}"`)(), ...dropped },
    { surface: 'a parameter', put: (card) => seen(`/cards?last4=${card}&state=${card}&cursor=${card}`), ...dropped },
    { surface: 'a path', put: (card) => seen(`/cards/${card}`), status: 404, needsRedactor: true },
    {
      surface: 'a path, in groups',
      put: (card) => seen(`/cards/${grouped(card, '_')}`),
      status: 404,
      needsRedactor: true,
    },
  ];
}

function notifications({ hook }: Strangers): Put[] {
  const custody: Record<string, (card: string) => object> = {
    event_id: (card) => ({ event_id: card }),
    'event_id in groups': (card) => ({ event_id: `cev_${grouped(card, '_')}` }),
    object_id: (card) => ({ object_id: card }),
    'object_id in groups': (card) => ({ object_id: `cdp_${grouped(card, ':')}` }),
    'body, with its expiry': (card) => ({ note: `${card} 12/29`, cvv: CODE, cvc: CODE }),
  };
  const issuer: Record<string, (card: string) => object> = {
    event_id: (card) => ({ event_id: `iev${card}` }),
    'event_id in groups': (card) => ({ event_id: grouped(card, '_') }),
    card_id: (card) => ({ card_id: `icd_${card}` }),
    'card_id in groups': (card) => ({ card_id: grouped(card, ':') }),
    'reference in groups': (card) => ({ reference: `iss_${grouped(card, '/')}` }),
  };
  const sealed: Record<string, (card: string) => string> = {
    body: (card) => issuerEvent({ card: { pan: card, cvv: CODE, holder: PERSON } }),
    'escaped body': (card) => issuerEvent({ note: card }).replace(card, `\\u0034${card.slice(1)}`),
    authorization_id: (card) => issuerEvent({ type: 'clearing.posted', authorization_id: grouped(card, '_') }),
    'cut body': (card) => `{"event_id":"x","pan":"${card}"`,
  };
  const all = [
    ...Object.entries(custody).map(([how, of]) => ({
      provider: 'custody',
      how,
      of: (card: string) => custodyEvent(of(card)),
    })),
    ...Object.entries(issuer).map(([how, of]) => ({
      provider: 'issuer',
      how,
      of: (card: string) => issuerEvent(of(card)),
    })),
    ...Object.entries(sealed).map(([how, of]) => ({ provider: 'issuer', how: `sealed or dropped ${how}`, of })),
  ];
  // Never refused: it may be a genuine one. A sealed body cannot be looked into, and not every subject is kept.
  return all.map(({ provider, how, of }) => ({
    surface: `${provider}'s ${how}`,
    put: (card) => hook(provider, of(card)),
    status: 200,
    needsRedactor: !how.startsWith('sealed'),
  }));
}

/** What a provider says when it is asked. */
function answers({ api, simulator, isLooked }: Strangers): Put[] {
  const said: Record<string, (card: string) => object> = {
    tx_hash: (card) => ({ tx_hash: `0x${card}` }),
    status: (card) => ({ status: `completed-${card}` }),
  };
  return Object.entries(said).map(([member, of]) => ({
    surface: `custody's answer, ${member}`,
    put: async (card) => {
      const { body, status } = await api('POST', '/deposit-addresses', {
        body: { network: 'ethereum', customer_ref: randomUUID() },
      });
      const deposit = { address: body['address'], amount: '1', ...of(card) };
      const { id } = await simulator('custody', 'POST /deposits', deposit);
      await eventually('the deposit was read', () => isLooked(String(id)));
      return status;
    },
    status: 201,
    needsRedactor: true,
  }));
}

function custodyEvent(given: object): string {
  const occurred_at = new Date().toISOString();
  return JSON.stringify({
    event_id: randomUUID(),
    type: 'deposit.changed',
    object_id: 'cdp_none',
    occurred_at,
    ...given,
  });
}

function issuerEvent(given: object): string {
  const event = { event_id: randomUUID(), type: 'card.changed', card_id: 'icd_none', reference: null };
  return JSON.stringify({ ...event, occurred_at: new Date().toISOString(), ...given });
}

function traceOf(trace: string, span = 'b7ad6b7169203331'): Record<string, string> {
  return { traceparent: `00-${trace}-${span}-01` };
}
