import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { IssuanceInput } from '../../src/contracts/messages.js';
import { openAccounts } from '../../src/db/accounts.js';
import { createCardholder } from '../../src/db/cardholders.js';
import { post } from '../../src/db/journal.js';
import { newId, requestId } from '../../src/db/new-id.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { leg } from '../../src/domain/journal.js';
import { sealIdentity } from '../../src/http/gateway/sealing.js';
import { createPublicKeySource } from '../../src/providers/keys/keyring.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import type { BenchKeys } from './keys.js';
import { ISSUER } from './settings.js';

/** A merchant with a key, a cardholder and enough money for any round. */
export interface Buyer {
  readonly merchantId: string;
  readonly apiKey: string;
  readonly cardholderId: string;
}

const FEE_CENTS = 100;
const LOAD_CENTS = 2_500;
const WALLET_CENTS = 100_000_000_000n;
const METHOD_AND_PATH = { method: 'POST', path: '/v1/cards' } as const;

export async function openBuyers(owner: pg.Pool, count: number, keys: BenchKeys): Promise<Buyer[]> {
  await owner.query(
    `insert into sverka.card_fee (product, asset, amount, set_by) values ('instant', 'USD', $1, 'bench')`,
    [FEE_CENTS],
  );
  const buyers: Buyer[] = [];
  for (let n = 0; n < count; n += 1) {
    const [merchantId, apiKey] = [newId('merchant'), `sk_live_${randomBytes(32).toString('hex').slice(0, 43)}`];
    await owner.query('select sverka.create_merchant($1, $2)', [merchantId, 'A merchant']);
    const hash = createHash('sha256').update(apiKey).digest();
    await owner.query('select sverka.create_api_key($1, $2, $3, $4, $5)', [
      newId('apiKey'),
      merchantId,
      ISSUER.book,
      'full',
      hash,
    ]);
    await fund(owner, merchantId);
    buyers.push({ merchantId, apiKey, cardholderId: await makeCardholder(owner, merchantId, keys) });
  }
  return buyers;
}

/** What the gateway hands over for an instant card of 25.00 USD, under a key of its own. */
export function cardInput({ merchantId, cardholderId }: Buyer): IssuanceInput {
  const { book, provider, account } = ISSUER;
  const key = randomBytes(12).toString('hex');
  return {
    ...{ book, provider, account, merchantId, cardholderId },
    request: {
      ...METHOD_AND_PATH,
      id: requestId({ book, merchantId, key }),
      key,
      fingerprint: 'ab'.repeat(32),
    },
    ...{ product: 'instant', asset: 'USD', load: String(LOAD_CENTS), generation: 0, traceId: newTraceId() },
  };
}

async function fund(owner: pg.Pool, merchantId: string): Promise<void> {
  const own = { book: ISSUER.book, merchantId, customerId: null, asset: 'USD' } as const;
  await inTransaction(owner, async (tx) => {
    const [wallet, clearing] = await openAccounts(tx, [
      { ...own, kind: 'wallet' },
      { ...own, kind: 'clearing:custody' },
    ]);
    if (wallet === undefined || clearing === undefined) throw new Error('The accounts were not opened.');
    const instrument = { book: own.book, provider: 'custody', account: 'bench', kind: 'deposit', ref: [merchantId] };
    const [funded] = await post(
      tx,
      [
        {
          kind: 'transfer',
          key: { instrument, generation: 0, operation: 'credit' },
          subject: { type: 'merchant', id: merchantId },
          lines: [leg(clearing, -WALLET_CENTS), leg(wallet, WALLET_CENTS)],
        },
      ],
      { traceId: null },
    );
    if (funded?.outcome !== 'posted') throw new Error(`A wallet was not funded: ${funded?.outcome}.`);
  });
}

async function makeCardholder(owner: pg.Pool, merchantId: string, keys: BenchKeys): Promise<string> {
  const id = newId('cardholder');
  const key = `holder-${id}`;
  const identity = [
    { member: 'first_name', text: 'Ada' },
    { member: 'last_name', text: 'Koch' },
    { member: 'birth_date', text: '1990-02-28' },
    { member: 'country', text: 'DE' },
    { member: 'document', text: 'X1234567' },
  ] as const;
  const publicKey = createPublicKeySource(keys.publicKeys)();
  const request = { id: requestId({ book: ISSUER.book, merchantId, key }), key, fingerprint: 'ab'.repeat(32) };
  await createCardholder(queriesOf(owner), {
    ...{ id, book: ISSUER.book, merchantId, initials: ['A', 'K'], country: 'DE', reference: null },
    identity: sealIdentity(publicKey, { cardholderId: id, revision: 1 }, identity),
    request: { ...request, method: 'POST', path: '/v1/cardholders' },
    traceId: newTraceId(),
  });
  return id;
}
