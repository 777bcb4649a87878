import { insertCard, moveCard } from '../../src/db/cards.js';
import { insertIssuance, moveIssuance, readIssuance } from '../../src/db/issuances.js';
import { insertLoad, moveLoad, readLoad } from '../../src/db/loads.js';
import { newId, requestId } from '../../src/db/new-id.js';
import { keepRequest } from '../../src/db/requests.js';
import type { Tx } from '../../src/db/transaction.js';
import { fingerprint, type Understood } from '../../src/http/gateway/idempotency.js';

const TRACE = '0123456789abcdef0123456789abcdef';

/**
 * An active card and a load of it, as if they had been made: rows alone, no money. The keys `createCard` and
 * `createLoad` lead to them, for a card of nothing in USD and a load of 1.00 USD.
 */
export async function makeCard(
  tx: Tx,
  { merchantId, cardholder }: { merchantId: string; cardholder: string },
): Promise<{ card: string; load: string }> {
  const [card, issuance, load] = [newId('card'), newId('issuance'), newId('load')];
  const by = { actor: 'test', traceId: TRACE };
  const at = { book: 'live', merchantId, asset: 'USD', provider: 'issuer', account: 'main-live', ...by } as const;
  await insertCard(tx, { ...at, id: card, cardholderId: cardholder, product: 'instant' });
  await insertIssuance(tx, {
    ...{ ...at, id: issuance, cardId: card, generation: 0, cardholderId: cardholder, cardholderRevision: 1 },
    ...{ product: 'instant', loadAmount: 0n, feeAmount: 0n, movementId: null, workflowId: 'none' },
  });
  const move = { reason: null, ...by };
  await moveIssuance(tx, await readIssuance(tx, issuance), { ...move, to: 'submitted', submittedBy: 'none' });
  const providerRef = `icd_${issuance}`;
  await moveIssuance(tx, await readIssuance(tx, issuance), { ...move, to: 'active', providerRef });
  const made = { providerRef, last4: '4242', expires: '2029-11', status: 'active' };
  await moveCard(tx, card, { ...move, from: ['pending'], to: 'active', made });
  await insertLoad(tx, {
    ...{ ...at, id: load, cardId: card, amount: 100n, providerAccount: 'main-live', movementId: 'mov_1' },
    workflowId: 'none',
  });
  await moveLoad(tx, await readLoad(tx, load), { ...move, to: 'submitted', submittedBy: 'none' });
  await moveLoad(tx, await readLoad(tx, load), { ...move, to: 'completed' });
  const of = { merchantId, book: 'live' } as const;
  const understoodCard = { cardholderId: 'chd', asset: 'USD', load: '0', product: 'instant' };
  await keep(tx, of, { key: 'createCard', path: '/v1/cards', understood: understoodCard, type: 'card', id: card });
  await keep(tx, of, {
    ...{ key: 'createLoad', path: `/v1/cards/${card}/loads`, type: 'load', id: load },
    understood: { asset: 'USD', amount: '100' },
  });
  return { card, load };
}

async function keep(
  tx: Tx,
  of: { merchantId: string; book: 'live' },
  led: { key: string; path: string; understood: Understood; type: string; id: string },
): Promise<void> {
  const { key, path, understood, type, id } = led;
  const call = { id: requestId({ ...of, key }), key, method: 'POST', path };
  const request = { ...call, fingerprint: fingerprint('POST', path, understood) };
  await keepRequest(tx, { ...of, traceId: TRACE, request }, { resource: { type, id, made: true }, refusal: null });
}
