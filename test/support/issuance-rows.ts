import { issuanceWorkflowId } from '../../src/contracts/ids.js';
import type { IssuanceInput } from '../../src/contracts/messages.js';
import { createCardholder, type NewCardholder } from '../../src/db/cardholders.js';
import { newId, requestId } from '../../src/db/new-id.js';
import { leg } from '../../src/domain/journal.js';
import { sealIdentity } from '../../src/http/gateway/sealing.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { movement, openPurse, type Purse, postNow } from './journal-fixtures.js';
import { testKeyring } from './test-keyring.js';
import { makeMerchantRow } from './worker-rows.js';
import type { WorkerWorld } from './worker-world.js';

/** What one card costs beside its load, of either product. */
export const FEE_CENTS = 100n;
/** The load of a card, unless a test says otherwise. */
export const LOAD_CENTS = 2_500n;

/** A merchant who can have cards: a wallet in USD with money on it, and a cardholder. */
export interface Buyer {
  readonly merchantId: string;
  readonly cardholderId: string;
  readonly purse: Purse;
}

type Rows = Pick<WorkerWorld, 'owner' | 'tx'>;

/** `document` is the cardholder's: one that begins with `DECLINE` makes the issuer decline. */
export async function makeBuyer(
  world: WorkerWorld,
  { cents = 100_000n, document = 'X1234567', ...of }: { cents?: bigint; document?: string; merchantId?: string } = {},
): Promise<Buyer> {
  await setFees(world);
  const merchantId = of.merchantId ?? (await makeMerchantRow(world));
  const purse = await openPurse(world.owner, { asset: 'USD', merchantId });
  await postNow(world.owner, movement([leg(purse.clearing, -cents), leg(purse.wallet, cents)]));
  return { merchantId, cardholderId: await makeCardholderRow(world, merchantId, document), purse };
}

/** `FEE_CENTS` for either product in USD. */
export async function setFees({ tx }: Rows): Promise<void> {
  await tx.query(
    `insert into sverka.card_fee (product, asset, amount, set_by)
       select p, 'USD', $1, 'test' from unnest(array['instant', 'async']) p on conflict do nothing`,
    [String(FEE_CENTS)],
  );
}

/** Sealed as the gateway seals it. */
export async function makeCardholderRow({ tx }: Rows, merchantId: string, document: string): Promise<string> {
  const id = newId('cardholder');
  const identity = [
    { member: 'first_name', text: 'Ada' },
    { member: 'last_name', text: 'Koch' },
    { member: 'birth_date', text: '1990-02-28' },
    { member: 'country', text: 'DE' },
    { member: 'document', text: document },
  ] as const;
  const cardholder: NewCardholder = {
    id,
    book: 'live',
    merchantId,
    initials: ['A', 'K'],
    country: 'DE',
    reference: null,
    identity: sealIdentity(testKeyring().publicKey(), { cardholderId: id, revision: 1 }, identity),
    request: requestOf(merchantId, `holder-${id}`, '/v1/cardholders'),
    traceId: newTraceId(),
  };
  if (!(await createCardholder(tx, cardholder))) throw new Error('The cardholder was there before.');
  return id;
}

/** What the gateway would hand over for `POST /v1/cards` with that key: instant, 25.00 USD, unless said otherwise. */
export function issuanceInput(
  { merchantId, cardholderId }: Pick<Buyer, 'merchantId' | 'cardholderId'>,
  key: string,
  of: Partial<IssuanceInput> = {},
): IssuanceInput {
  return {
    book: 'live',
    provider: 'issuer',
    account: 'main-live',
    merchantId,
    request: requestOf(merchantId, key, '/v1/cards'),
    cardholderId,
    product: 'instant',
    asset: 'USD',
    load: String(LOAD_CENTS),
    traceId: newTraceId(),
    generation: 0,
    ...of,
  };
}

/** The call with that key, as the gateway hands it over. */
export function requestOf(merchantId: string, key: string, path: string): IssuanceInput['request'] {
  const id = requestId({ book: 'live', merchantId, key });
  return { id, key, method: 'POST', path, fingerprint: 'ab'.repeat(32) };
}

export function workflowIdOf({ book, merchantId, request, generation }: IssuanceInput): string {
  return issuanceWorkflowId({ book, merchantId, requestId: request.id, generation });
}

export interface IssuanceFacts {
  readonly id: string;
  readonly cardId: string;
  readonly generation: number;
  readonly state: string;
  readonly reason: string | null;
  readonly flag: string | null;
  readonly providerRef: string | null;
  readonly needsOperator: boolean;
  readonly workflowId: string;
}

/** The newest issuance that this request led to; null when it led to none. */
export async function issuanceRow({ tx }: Rows, { request }: IssuanceInput): Promise<IssuanceFacts | null> {
  const rows = await tx.query<IssuanceFacts>(
    `select i.id, i.card_id as "cardId", i.generation, i.state, i.reason, i.flag, i.provider_ref as "providerRef",
       i.needs_operator as "needsOperator", i.workflow_id as "workflowId"
     from sverka.request r join sverka.issuance i on i.card_id = r.resource_id
     where r.id = $1 order by i.generation desc limit 1`,
    [request.id],
  );
  return rows[0] ?? null;
}

/** The same; throws when there is none. */
export async function issuanceOf(world: Rows, input: IssuanceInput): Promise<IssuanceFacts> {
  const row = await issuanceRow(world, input);
  if (!row) throw new Error(`Request ${input.request.id} led to no issuance.`);
  return row;
}
