import {
  type DepositAddressBody,
  type DepositAddressMeaning,
  depositAddressInputSchema,
  depositAddressSchema,
  toDepositAddress,
  understandDepositAddress,
} from '../../../contracts/deposit-address.js';
import { listSchema } from '../../../contracts/list.js';
import { networkSchema, referenceSchema } from '../../../contracts/values.js';
import { findDepositAddress } from '../../../db/deposit-addresses.js';
import { listDepositAddresses } from '../../../db/lists.js';
import { Problem } from '../../problem.js';
import type { Call } from '../call.js';
import { creationHandler } from '../creation.js';
import { answerList } from '../list.js';
import { assetFilter, filter, PAGE_PARAMETERS } from '../parameters.js';
import { requireProvider } from '../provider-account.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';

export const createDepositAddress = defineRoute({
  method: 'POST',
  path: '/v1/deposit-addresses',
  operationId: 'createDepositAddress',
  summary: 'Make a deposit address: one per owner, network and asset, for ever',
  tag: 'Deposits',
  needsKey: true,
  query: {},
  body: depositAddressInputSchema,
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
    understand: (call: Call<object, DepositAddressBody>) => understand(call.body),
    fingerprinted: (meaning) => ({ ...meaning }),
    start: async (call, meaning, { request, deadlineMs }) => {
      const { book, merchantId } = call.caller;
      const at = await requireProvider(call, 'custody');
      const input = { ...meaning, ...at, book, merchantId, request };
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
  network: filter(networkSchema, 'The network it is on.'),
  asset: assetFilter,
  customer_ref: filter(referenceSchema, "The merchant's name of the customer who owns it."),
  state: filter(depositAddressSchema.shape.state, 'Its state.'),
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

function understand(body: DepositAddressBody): DepositAddressMeaning {
  const meaning = understandDepositAddress(body);
  if (!('code' in meaning)) return meaning;
  const { code, pointer, detail } = meaning;
  throw new Problem(code, { errors: [{ pointer, detail }] });
}
