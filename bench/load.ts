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
  /** The notifications speak of so many deposits, in turn. */
  readonly deposits: readonly string[];
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

function requestOf({ url, secret, deposits }: LoadOrder, at: number): Buffer {
  const { host, pathname } = new URL(url);
  const body = JSON.stringify({
    event_id: `cev_${randomBytes(12).toString('hex')}`,
    type: 'deposit.changed',
    object_id: deposits[at % deposits.length],
    occurred_at: new Date().toISOString(),
  });
  const seconds = Math.floor(Date.now() / 1_000);
  const digest = hmacSha256(secret, [`${seconds}.`, body]).toString('hex');
  return Buffer.from(
    `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
      `x-custody-signature: t=${seconds},v1=${digest}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

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
