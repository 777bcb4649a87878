import { createHmac, randomUUID } from 'node:crypto';
import pg from 'pg';
import type { RunningProduct } from './running-product.js';

export interface Told {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly id: string };
  readonly location: string;
}

interface How {
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whoever speaks to the product from outside; every answer that anybody was given is kept. */
export interface Strangers {
  /** The answers, headers and bodies. */
  readonly answers: readonly string[];
  /** A call of the merchant. */
  api(method: string, path: string, how?: How): Promise<Told>;
  /** A signed notification; answers its status. */
  hook(provider: string, body: string, headers?: How['headers']): Promise<number>;
  /** True when the notification of this object was looked at, whatever came of it. */
  isLooked(ref: string): Promise<boolean>;
  /** Something that happens at a provider. */
  simulator(name: string, what: `${'POST' | 'PATCH'} /${string}`, body: unknown): Promise<Record<string, unknown>>;
}

export function strangersOf(product: RunningProduct): Strangers {
  const answers: string[] = [];
  const call = async (method: string, url: string, init: RequestInit): Promise<Told> => {
    const headers = { 'content-type': 'application/json', ...init.headers };
    const answer = await fetch(url, { ...init, method, headers });
    const text = await answer.text();
    answers.push(`${JSON.stringify([...answer.headers])}${text}`);
    const location = answer.headers.get('location') ?? '';
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : { id: '' }, location };
  };
  return {
    answers,
    api(method, path, { body, key, headers = {} } = {}) {
      const { gatewayUrl, merchants } = product.run();
      const authorization = `Bearer ${merchants.find(({ book }) => book === 'live')?.apiKey}`;
      const init = {
        headers: { authorization, 'idempotency-key': key ?? randomUUID(), prefer: 'wait=10', ...headers },
      };
      const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
      return call(method, `${gatewayUrl}/v1${path}`, { ...init, ...(text === undefined ? {} : { body: text }) });
    },
    async hook(provider, body, headers = {}) {
      const found = product.run().hooks.find((each) => each.provider === provider && each.book === 'live');
      if (!found) throw new Error(`Nobody notifies for ${provider}.`);
      const t = Math.floor(Date.now() / 1_000);
      const v1 = createHmac('sha256', found.secrets[0] ?? '')
        .update(`${t}.${body}`)
        .digest('hex');
      const signed = { ...headers, [found.signatureHeader]: `t=${t},v1=${v1}` };
      return (await call('POST', found.url, { body, headers: signed })).status;
    },
    async isLooked(ref) {
      const client = new pg.Client({ connectionString: product.run().databaseUrl });
      await client.connect();
      const looked = `select from sverka.inbox where subject_ref = $1 and (status <> 'pending' or attempts > 0)`;
      const { rowCount } = await client.query(looked, [ref]).finally(() => client.end());
      return rowCount === 1;
    },
    async simulator(name, what, body) {
      const [method = '', path = ''] = what.split(' ');
      const url = `${product.run().simulators?.[name]?.url}/_sim${path}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`The simulator of ${name} answers ${answer.status} to ${path}.`);
      const text = await answer.text();
      return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
    },
  };
}
