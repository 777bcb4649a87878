import { z } from 'zod';
import { depositSchema, toDeposit } from '../../../contracts/deposit.js';
import { isId } from '../../../contracts/ids.js';
import { listSchema } from '../../../contracts/list.js';
import { assetCodeSchema, networkSchema, referenceSchema } from '../../../contracts/values.js';
import { findDeposit } from '../../../db/deposits.js';
import { listDeposits } from '../../../db/lists.js';
import { answerList } from '../list.js';
import { filter, PAGE_PARAMETERS } from '../parameters.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';

export const getDeposit = defineRoute({
  method: 'GET',
  path: '/v1/deposits/{id}',
  operationId: 'getDeposit',
  summary: 'Read a deposit',
  tag: 'Deposits',
  query: {},
  answers: { 200: { description: 'The deposit.', schema: depositSchema } },
  handler: readById('deposit', async ({ deps, caller }, id) => {
    const record = await findDeposit(deps.db, { id, ...caller });
    return toDeposit(record ?? notFound());
  }),
});

const listParameters = {
  ...PAGE_PARAMETERS,
  state: filter(depositSchema.shape.state, 'Its state.'),
  network: filter(networkSchema, 'The network it came over.'),
  asset: filter(assetCodeSchema, 'The asset that was reported, whatever it was settled in.'),
  deposit_address_id: filter(
    z.string().refine((text) => isId('depositAddress', text), 'must be an id such as addr_…'),
    'The address it arrived at.',
  ),
  customer_ref: filter(referenceSchema, "The merchant's name of the customer who owns it."),
  hash: filter(z.string().regex(/^[!-~]{1,128}$/, 'must be a transaction hash'), 'Hash of its transaction.'),
};

export const listDepositsRoute = defineRoute({
  method: 'GET',
  path: '/v1/deposits',
  operationId: 'listDeposits',
  summary: 'List deposits, newest first',
  tag: 'Deposits',
  query: listParameters,
  answers: { 200: { description: 'A page of them.', schema: listSchema(depositSchema) } },
  handler: (call) =>
    answerList(call, {
      find: (page) => {
        const { state, network, asset, deposit_address_id, customer_ref, hash } = call.query;
        const filters = {
          'd.state': state,
          'd.network': network,
          'd.reported_asset': asset,
          'd.deposit_address_id': deposit_address_id,
          'c.ref': customer_ref,
          'd.tx_hash': hash,
        };
        return listDeposits(call.deps.db, call.caller, { filters, page });
      },
      show: toDeposit,
      position: (record) => record.id,
    }),
});
