import { newId, requestId } from '../../src/db/new-id.js';
import { keepRequest, type RequestOutcome } from '../../src/db/requests.js';
import type { Tx } from '../../src/db/transaction.js';
import type { Book } from '../../src/domain/books.js';
import { fingerprint, type Understood } from '../../src/http/gateway/idempotency.js';

interface Of {
  readonly book?: Book;
  readonly merchantId: string;
  readonly customerId?: string | null;
}

/** A customer of that merchant. */
export async function makeCustomer(tx: Tx, of: Of, ref: string): Promise<string> {
  const id = newId('customer');
  await tx.query('insert into sverka.customer (id, book, merchant_id, ref) values ($1, $2, $3, $4)', [
    id,
    of.book ?? 'live',
    of.merchantId,
    ref,
  ]);
  return id;
}

/** A deposit address as its workflow would leave it, in that state. */
export async function makeAddress(
  tx: Tx,
  of: Of & { network?: string; asset?: string; state?: 'preparing' | 'active' | 'unknown' | 'failed' },
): Promise<string> {
  const id = newId('depositAddress');
  await tx.query(
    `insert into sverka.deposit_address (id, book, merchant_id, customer_id, network, asset, settlement_mode, provider,
       provider_account, state, actor)
     values ($1, $2, $3, $4, $5, $6, 'as_token', 'custody', 'main', 'preparing', 'test')`,
    [id, of.book ?? 'live', of.merchantId, of.customerId ?? null, of.network ?? 'tron', of.asset ?? 'USDT-TRC20'],
  );
  if (of.state !== undefined && of.state !== 'preparing') await moveAddress(tx, id, of.state);
  return id;
}

/** The next state of an address. */
export async function moveAddress(tx: Tx, id: string, state: 'active' | 'unknown' | 'failed'): Promise<void> {
  await tx.query(
    `update sverka.deposit_address set state = $2, version = version + 1, actor = 'test',
       address = 'T' || id, provider_ref = 'ref-' || id where id = $1`,
    [id, state],
  );
}

/** A deposit that its custodian has told of. */
export async function makeDeposit(
  tx: Tx,
  of: Of & { addressId: string; state?: 'noticed' | 'confirming'; asset?: string; network?: string; hash?: string },
): Promise<string> {
  const id = newId('deposit');
  await tx.query(
    `insert into sverka.deposit (id, book, merchant_id, customer_id, deposit_address_id, network, provider,
       provider_account, provider_ref, provider_status, tx_hash, output_index, reported_text, reported_amount,
       reported_asset, settlement_mode, last_read_at, state, actor)
     values ($1, $2, $3, $4, $5, $6, 'custody', 'main', 'cd-' || $1, 'pending', $7, 0, '25', 25, $8, 'as_token',
       clock_timestamp(), 'noticed', 'test')`,
    [
      id,
      of.book ?? 'live',
      of.merchantId,
      of.customerId ?? null,
      of.addressId,
      of.network ?? 'tron',
      of.hash ?? `hash-${id}`,
      of.asset ?? 'USDT-TRC20',
    ],
  );
  if (of.state === 'confirming') {
    await tx.query(
      `update sverka.deposit set state = 'confirming', version = version + 1, actor = 'test' where id = $1`,
      [id],
    );
  }
  return id;
}

/** What `POST /v1/deposit-addresses` understands of `{"network":"tron"}`. */
export const TRON: Understood = {
  network: 'tron',
  asset: 'USDT-TRC20',
  customerRef: null,
  settlementMode: 'as_token',
  settlementAsset: null,
};

/** The row that a create with this key left, and its request id. */
export async function makeRequest(
  tx: Tx,
  of: Of & { key: string; understood?: Understood },
  outcome: Partial<RequestOutcome>,
): Promise<string> {
  const { merchantId, key, book = 'live' } = of;
  const [method, path] = ['POST', '/v1/deposit-addresses'];
  const id = requestId({ book, merchantId, key });
  const request = { id, key, method, path, fingerprint: fingerprint(method, path, of.understood ?? TRON) };
  const traceId = '0123456789abcdef0123456789abcdef';
  await keepRequest(tx, { book, merchantId, traceId, request }, { resource: null, refusal: null, ...outcome });
  return id;
}
