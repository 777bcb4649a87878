import { z } from 'zod';
import { depositAddressSchema, toDepositAddress } from '../../../contracts/deposit-address.js';
import { listSchema } from '../../../contracts/list.js';
import { breakerName, breakerOpenMs } from '../../../db/breaker.js';
import { findDepositAddress } from '../../../db/deposit-addresses.js';
import { listDepositAddresses } from '../../../db/lists.js';
import { findAsset, isNetwork, NETWORK_ASSETS, NETWORKS, type Network } from '../../../domain/assets.js';
import { DEPOSIT_ADDRESS_STATES } from '../../../domain/deposit-address.js';
import { Problem } from '../../problem.js';
import type { Call } from '../call.js';
import { creationHandler } from '../creation.js';
import { answerList } from '../list.js';
import { assetFilter, filter, PAGE_PARAMETERS, referenceSchema } from '../parameters.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';

const inputSchema = z.strictObject({
  network: z
    .string()
    .max(32)
    .describe(`One of ${NETWORKS.join(', ')}.`),
  asset: z.string().max(20).optional().describe("Default: the network's own, for `tron` USDT-TRC20."),
  customer_ref: referenceSchema.nullable().optional().describe('Default: the merchant himself.'),
  settlement: z
    .discriminatedUnion('mode', [
      z.strictObject({ mode: z.literal('as_token'), asset: z.null().optional() }),
      z.strictObject({ mode: z.literal('settled'), asset: z.string().max(20) }),
    ])
    .optional()
    .describe('Fixed at birth. Default: `as_token`.'),
});
type Input = z.infer<typeof inputSchema>;

interface Meaning {
  readonly network: Network;
  readonly asset: string;
  readonly customerRef: string | null;
  readonly settlementMode: 'as_token' | 'settled';
  readonly settlementAsset: string | null;
}

export const createDepositAddress = defineRoute({
  method: 'POST',
  path: '/v1/deposit-addresses',
  operationId: 'createDepositAddress',
  summary: 'Make a deposit address: one per owner, network and asset, for ever',
  tag: 'Deposits',
  needsKey: true,
  query: {},
  body: inputSchema,
  answers: {
    201: { description: 'Made, and active or failed.', schema: depositAddressSchema, location: true },
    200: { description: 'It exists already, with the same settlement.', schema: depositAddressSchema },
    202: {
      description: 'Accepted; the provider has not answered for certain yet.',
      schema: depositAddressSchema,
      location: true,
    },
  },
  problems: ['already_exists', 'network_not_supported', 'asset_not_supported', 'provider_unavailable'],
  handler: creationHandler({
    understand: (call: Call<object, Input>) => understand(call.body),
    fingerprinted: (meaning) => ({ ...meaning }),
    start: async (call, meaning, { request, deadlineMs }) => {
      const { book, merchantId } = call.caller;
      const account = call.deps.config.providers.find((one) => one.provider === 'custody' && one.book === book);
      if (!account) throw new Problem('provider_unavailable', { headers: { 'retry-after': '60' } });
      const openMs = await breakerOpenMs(call.deps.db, breakerName({ provider: account.provider, book }));
      if (openMs > 0) {
        throw new Problem('provider_unavailable', { headers: { 'retry-after': String(Math.ceil(openMs / 1_000)) } });
      }
      const input = { ...meaning, book, merchantId, provider: account.provider, account: account.account, request };
      return call.deps.starts.depositAddress({ ...input, traceId: call.traceId }, deadlineMs);
    },
  }),
});

export const getDepositAddress = defineRoute({
  method: 'GET',
  path: '/v1/deposit-addresses/{id}',
  operationId: 'getDepositAddress',
  summary: 'Read a deposit address',
  tag: 'Deposits',
  query: {},
  answers: { 200: { description: 'The deposit address.', schema: depositAddressSchema } },
  handler: readById('depositAddress', async ({ deps, caller }, id) => {
    const record = await findDepositAddress(deps.db, { id, ...caller });
    return toDepositAddress(record ?? notFound());
  }),
});

const listParameters = {
  ...PAGE_PARAMETERS,
  network: filter(z.enum(NETWORKS), 'The network it is on.'),
  asset: assetFilter,
  customer_ref: filter(referenceSchema, "The merchant's name of the customer who owns it."),
  state: filter(z.enum(DEPOSIT_ADDRESS_STATES), 'Its state.'),
};

export const listDepositAddressesRoute = defineRoute({
  method: 'GET',
  path: '/v1/deposit-addresses',
  operationId: 'listDepositAddresses',
  summary: 'List deposit addresses, newest first',
  tag: 'Deposits',
  query: listParameters,
  answers: { 200: { description: 'A page of them.', schema: listSchema(depositAddressSchema) } },
  handler: (call) =>
    answerList(call, {
      find: (page) => {
        const { network, asset, customer_ref, state } = call.query;
        const filters = { 'a.network': network, 'a.asset': asset, 'c.ref': customer_ref, 'a.state': state };
        return listDepositAddresses(call.deps.db, call.caller, { filters, page });
      },
      show: toDepositAddress,
      position: (record) => record.id,
    }),
});

function understand(input: Input): Meaning {
  const { network } = input;
  if (!isNetwork(network))
    throw refusedField('network_not_supported', '/network', `must be one of ${NETWORKS.join(', ')}`);
  const carried = NETWORK_ASSETS[network];
  const asset = input.asset ?? carried[0] ?? '';
  if (!carried.includes(asset))
    throw refusedField('asset_not_supported', '/asset', `must be one of ${carried.join(', ')}`);
  const settled = input.settlement?.mode === 'settled' ? input.settlement.asset : null;
  if (settled !== null && !isFiat(settled)) {
    throw refusedField('asset_not_supported', '/settlement/asset', 'must be a listed currency');
  }
  return {
    network,
    asset,
    customerRef: input.customer_ref ?? null,
    settlementMode: settled === null ? 'as_token' : 'settled',
    settlementAsset: settled,
  };
}

// Currencies are the listed assets that no network carries.
function isFiat(code: string): boolean {
  return findAsset(code) !== undefined && !Object.values(NETWORK_ASSETS).some((assets) => assets.includes(code));
}

function refusedField(code: 'network_not_supported' | 'asset_not_supported', pointer: string, detail: string): Problem {
  return new Problem(code, { errors: [{ pointer, detail }] });
}
