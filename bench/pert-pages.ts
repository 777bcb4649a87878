import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cursorAt } from './support/cursor-at.js';

/** What the journal is about. */
export interface JournalOrder {
  readonly items: number;
  readonly addresses: number;
}

/** How far the journal goes now: a snapshot says so, and no page passes it. */
export interface HeadOrder {
  readonly head: number;
}

/** Whole units of every address before the journal begins. */
const BEFORE = 1_000_000;
/** Where half of the transactions come together. */
const TREASURIES = 20;
/** Beyond 2^53, so that every version is one that a double would spoil. */
const FIRST_VERSION = 9_100_000_000_000_000n;
// Odd: walks through all addresses in an order that looks like none.
const STRIDE = 2_654_435_761;

/**
 * Speaks the wire of Pert (WIRE.md) over a journal whose items are made once, as text: as fast as a provider can be.
 * One half comes in from outside, each to one of the addresses; the other goes from one of them to a treasury. Nothing
 * else of the wire is here. Answers its URL.
 */
async function serveJournal(order: JournalOrder): Promise<string> {
  const items = itemsOf(order);
  const pages = new Map<string, string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://pert');
    response.setHeader('content-type', 'application/json');
    if (pathname === '/asset/balances/currencies') return void response.end(snapshotOf(order));
    const start = Number(searchParams.get('since_cursor')?.slice(1));
    const end = Math.min(head, start + Number(searchParams.get('limit')));
    const key = `${start} ${end}`;
    const page =
      pages.get(key) ??
      `{"items":[${items.slice(start, end).join(',')}],"next_cursor":"${cursorAt(end)}","has_more":${end < head}}`;
    pages.set(key, page);
    response.end(page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let head = 0;

function snapshotOf({ addresses }: JournalOrder): string {
  const balance = String((addresses + TREASURIES) * BEFORE + Math.ceil(head / 2));
  const currency = { currency: 'USDT', balance, frozen: '0', held: '0', available: balance };
  return JSON.stringify({ cursor: cursorAt(head), min_cursor: cursorAt(0), currency_balances: [currency] });
}

function itemsOf({ items, addresses }: JournalOrder): string[] {
  const balances = new Map<string, number>();
  const side = (address: string, change: 1 | -1) => {
    const balance = (balances.get(address) ?? BEFORE) + change;
    balances.set(address, balance);
    return `{"address":"${address}","amount":"1.000000","balance":"${balance}.000000"}`;
  };
  return Array.from({ length: items }, (_, at) => {
    const own = `bench-address-${String((Math.imul(at, STRIDE) >>> 8) % addresses).padStart(20, '0')}`;
    const isIn = at % 2 === 0;
    const [from, to] = isIn
      ? ['null', side(own, 1)]
      : [side(own, -1), side(`bench-treasury-${String(at % TREASURIES).padStart(19, '0')}`, 1)];
    const id = `ptx_${(Math.imul(at, STRIDE) >>> 0).toString(16).padStart(24, '0')}`;
    return (
      `{"id":"${id}","status":"completed","currency":"USDT","balance_version":${FIRST_VERSION + BigInt(at)},` +
      `"from":${from},"to":${to},"created_at":"2026-01-01T00:00:00.000Z"}`
    );
  });
}

process.on('message', (order: JournalOrder | HeadOrder) => {
  if ('head' in order) {
    head = order.head;
    process.send?.({ head });
    return;
  }
  serveJournal(order).then(
    (url) => process.send?.({ url }),
    (error: unknown) => {
      throw error;
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
