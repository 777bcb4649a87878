import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the pages are about. */
export interface PagesOrder {
  readonly items: number;
  readonly addresses: readonly string[];
}

/**
 * Serves `GET /v1/deposits/changes` (WIRE.md, custody) over completed deposits that are computed, not kept, each page
 * as text made once: as fast as a custodian can be. Nothing else of the wire is here. Answers its URL.
 */
export async function servePages(order: PagesOrder): Promise<string> {
  const pages = new Map<string, string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://custody');
    const start = Number(searchParams.get('after') ?? 0);
    const limit = Number(searchParams.get('limit') ?? 200);
    if (pathname !== '/v1/deposits/changes' || !Number.isSafeInteger(start) || !Number.isSafeInteger(limit)) {
      response.writeHead(404).end();
      return;
    }
    const key = `${start} ${limit}`;
    const page = pages.get(key) ?? pageOf(order, { start, limit });
    pages.set(key, page);
    response.writeHead(200, { 'content-type': 'application/json' }).end(page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function pageOf({ items, addresses }: PagesOrder, { start, limit }: { start: number; limit: number }): string {
  const end = Math.min(items, start + limit);
  const found = Array.from({ length: Math.max(0, end - start) }, (_, at) => recordOf(start + at, addresses));
  return JSON.stringify({ items: found, next_cursor: String(end), has_more: end < items });
}

function recordOf(number: number, addresses: readonly string[]): object {
  const hex = number.toString(16);
  return {
    id: `cdp_${hex.padStart(24, '0')}`,
    address: addresses[number % addresses.length],
    tag: null,
    network: 'tron',
    asset: 'USDT-TRC20',
    tx_hash: hex.padStart(64, '0'),
    output_index: 0,
    amount: '25',
    confirmations: 19,
    required_confirmations: 19,
    status: 'completed',
    settlement: null,
    replaced_by: null,
    updated_at: '2026-01-01T00:00:00.000Z',
  };
}

process.on('message', (order: PagesOrder) => {
  servePages(order).then(
    (url) => process.send?.({ url }),
    (error: unknown) => {
      throw error;
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
