import type { DepositAddressInput, DepositInput } from '../../src/contracts/messages.js';
import { newId, requestId } from '../../src/db/new-id.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import type { WorkerWorld } from './worker-world.js';

/** An active address that the simulated custodian knows as well, and whose it is. */
export interface KnownAddress {
  readonly id: string;
  readonly merchantId: string;
  readonly address: string;
}

export async function makeMerchantRow({ tx }: WorkerWorld): Promise<string> {
  const id = newId('merchant');
  await tx.query('select sverka.create_merchant($1, $2)', [id, 'A merchant']);
  return id;
}

/** An active address of a new merchant; `account` names another account of ours than `main-live`. */
export async function makeKnownAddress(
  world: WorkerWorld,
  of: { account?: string; like?: KnownAddress } = {},
): Promise<KnownAddress> {
  const merchantId = await makeMerchantRow(world);
  const id = newId('depositAddress');
  const made = of.like
    ? { id: `ref-${id}`, address: of.like.address }
    : await world.custody.live.createAddress({ reference: id, network: 'tron', asset: 'USDT-TRC20', settleIn: null });
  await world.tx.query(
    `insert into sverka.deposit_address (id, book, merchant_id, network, asset, settlement_mode, provider,
       provider_account, state, actor) values ($1, 'live', $2, 'tron', 'USDT-TRC20', 'as_token', 'custody', $3,
       'preparing', 'test')`,
    [id, merchantId, of.account ?? 'main-live'],
  );
  await world.tx.query(
    `update sverka.deposit_address set state = 'active', version = 2, actor = 'test', address = $2, provider_ref = $3
     where id = $1`,
    [id, made.address, made.id],
  );
  return { id, merchantId, address: made.address };
}

/** A transfer arrives at the custodian; answers his id of it. */
export async function arrive(world: WorkerWorld, to: KnownAddress, deposit: object = {}): Promise<string> {
  const { id } = await world.custody.drive('POST', '/_sim/deposits', {
    address: to.address,
    amount: '25',
    status: 'completed',
    ...deposit,
  });
  return id;
}

export function depositInput(ref: string, of: Partial<DepositInput> = {}): DepositInput {
  return { book: 'live', provider: 'custody', account: 'main-live', ref, traceId: newTraceId(), ...of };
}

/** What the gateway would hand over for `POST /v1/deposit-addresses` with that key. */
export function addressInput(
  merchantId: string,
  key: string,
  of: Partial<DepositAddressInput> = {},
): DepositAddressInput {
  const [method, path] = ['POST', '/v1/deposit-addresses'];
  return {
    book: 'live',
    provider: 'custody',
    account: 'main-live',
    merchantId,
    request: { id: requestId({ book: 'live', merchantId, key }), key, method, path, fingerprint: 'ab'.repeat(32) },
    customerRef: null,
    network: 'tron',
    asset: 'USDT-TRC20',
    settlementMode: 'as_token',
    settlementAsset: null,
    traceId: newTraceId(),
    ...of,
  };
}

/** Movements of that merchant, by kind, and the rows behind them. */
export async function creditsOf({ owner }: WorkerWorld, merchantId: string): Promise<string[]> {
  const { rows } = await owner.query<{ amount: string }>(
    `select e.amount::text as amount from ledger.entry e join ledger.account a on a.id = e.account_id
       join ledger.movement m on m.id = e.movement_id
      where a.merchant_id = $1 and a.kind = 'wallet' and m.kind = 'deposit_credit' order by e.seq`,
    [merchantId],
  );
  return rows.map((row) => row.amount);
}

/** The deposit of that custodian's id; null when there is none. */
export async function depositRow({ owner }: WorkerWorld, ref: string, account = 'main-live') {
  const { rows } = await owner.query<{
    id: string;
    state: string;
    reason: string | null;
    flag: string | null;
    version: number;
  }>('select id, state, reason, flag, version from sverka.deposit where provider_ref = $1 and provider_account = $2', [
    ref,
    account,
  ]);
  return rows[0] ?? null;
}

export async function addressRow({ owner }: WorkerWorld, id: string) {
  const { rows } = await owner.query<{
    state: string;
    address: string | null;
    reason: string | null;
    needsOperator: boolean;
  }>('select state, address, reason, needs_operator as "needsOperator" from sverka.deposit_address where id = $1', [
    id,
  ]);
  return rows[0] ?? null;
}
