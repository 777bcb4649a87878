import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { hmacSha256 } from '../src/providers/signature.js';
import { quantileOf } from './support/statistics.js';

/** What the load generator is asked for. */
export interface LoadOrder {
  /** `http://127.0.0.1:41001/hooks/custody/main-live` */
  readonly url: string;
  readonly secret: string;
  readonly connections: number;
  readonly requests: number;
  /** The notifications speak of these deposits, in turn. */
  readonly deposits?: readonly string[];
  /** Or each of one of so many addresses, whose balances grow from that version on. */
  readonly balances?: { readonly addresses: number; readonly after: number };
}

/** How it went; times are milliseconds. */
export interface LoadReport {
  readonly seconds: number;
  readonly accepted: number;
  /** The first answer that was not 200. */
  readonly refused: string | null;
  readonly p50: number;
  readonly p99: number;
  /** Of this process: near 1 it was the bound, and not the server. */
  readonly cores: number;
}

/**
 * Signs all first, then sends over connections that stay open, one request at a time on each. HTTP by hand: on two
 * cores every cycle of the generator is taken from the server.
 */
export async function runLoad(order: LoadOrder): Promise<LoadReport> {
  const requests = Array.from({ length: order.requests }, (_, at) => requestOf(order, at));
  const times: number[] = [];
  const answers = { accepted: 0, refused: null as string | null };
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: order.connections }, () => drive(order.url, { requests, times, answers })));
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return {
    seconds: ms / 1_000,
    ...answers,
    p50: quantileOf(times, 0.5),
    p99: quantileOf(times, 0.99),
    cores: (user + system) / 1_000 / ms,
  };
}

function requestOf(order: LoadOrder, at: number): Buffer {
  const { host, pathname } = new URL(order.url);
  const { body, headers } = order.balances
    ? balanceNotice(order.secret, { at: at + order.balances.after, addresses: order.balances.addresses })
    : depositNotice(order, at);
  return Buffer.from(
    `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
      `${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

interface Notice {
  readonly body: string;
  /** Each with its line end. */
  readonly headers: string;
}

function depositNotice({ secret, deposits = [] }: LoadOrder, at: number): Notice {
  const body = JSON.stringify({
    event_id: `cev_${randomBytes(12).toString('hex')}`,
    type: 'deposit.changed',
    object_id: deposits[at % deposits.length],
    occurred_at: new Date().toISOString(),
  });
  const seconds = Math.floor(Date.now() / 1_000);
  const digest = hmacSha256(secret, [`${seconds}.`, body]).toString('hex');
  return { body, headers: `x-custody-signature: t=${seconds},v1=${digest}\r\n` };
}

/** Address `at mod addresses` gets one more: its balance is what has come to it by then. */
function balanceNotice(secret: string, { at, addresses }: { at: number; addresses: number }): Notice {
  const address = `bench-address-${String(at % addresses).padStart(20, '0')}`;
  const balance = Math.floor(at / addresses) + 1;
  const body =
    `{"event":"transaction.created","transaction":{"id":"ptx_live${String(at).padStart(20, '0')}",` +
    `"status":"completed","currency":"USDT","balance_version":${FIRST_VERSION + BigInt(at)},"from":null,` +
    `"to":{"address":"${address}","amount":"1.000000","balance":"${balance}.000000"},` +
    `"created_at":"2026-01-01T00:00:00.000Z"}}`;
  const digest = hmacSha256(secret, [body]).toString('hex');
  const id = `x-webhook-event-id: pev_${randomBytes(12).toString('hex')}\r\n`;
  return { body, headers: `${id}x-webhook-signature: sha256=${digest}\r\n` };
}

/** Beyond 2^53. */
const FIRST_VERSION = 9_100_000_000_000_000n;

interface Shared {
  readonly requests: Buffer[];
  readonly times: number[];
  readonly answers: { accepted: number; refused: string | null };
}

/** One connection: the next request goes out when the answer is whole. */
function drive(url: string, { requests, times, answers }: Shared): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let text = '';
    let sentAt = 0;
    const next = () => {
      const request = requests.pop();
      if (!request) return socket.end(resolve);
      sentAt = performance.now();
      return socket.write(request);
    };
    socket.setEncoding('latin1');
    socket.once('connect', next);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The server closed a connection that was in use.')));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!isWhole(text)) return;
      times.push(performance.now() - sentAt);
      if (text.startsWith('HTTP/1.1 200 ')) answers.accepted += 1;
      else answers.refused ??= text.slice(0, text.indexOf('\r\n'));
      text = '';
      next();
    });
  });
}

function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head));
  if (length) return text.length >= head + 4 + Number(length[1]);
  return text.endsWith('0\r\n\r\n');
}

process.on('message', (order: LoadOrder) => {
  runLoad(order).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      throw error;
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
