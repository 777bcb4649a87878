import { z } from 'zod';
import {
  balanceCheckResult,
  balanceCheckSchema,
  balanceSchema,
  toBalance,
  toBalanceCheck,
} from '../../../contracts/balance.js';
import { listSchema } from '../../../contracts/list.js';
import { findBalanceCheck, listBalanceChecks, listBalances } from '../../../db/balance-listing.js';
import type { Answer, Call } from '../call.js';
import { answerList } from '../list.js';
import { filter, PAGE_PARAMETERS, single } from '../parameters.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';

const NAME = z.string().regex(/^[!-~]{1,128}$/, 'must be printable, at most 128 characters');
const sourceFilter = filter(NAME, 'The account whose balances are mirrored.');
const currencyFilter = filter(NAME, 'The provider’s own code of the currency.');
/** Balances have no time of their own making. */
const { created_from: _from, created_to: _to, ...POSITION } = PAGE_PARAMETERS;
const NO_PERIOD = { created_from: undefined, created_to: undefined };

export const listBalancesRoute = defineRoute({
  method: 'GET',
  path: '/v1/balances',
  operationId: 'listBalances',
  summary: 'List what providers hold for the merchant, by currency or by address',
  tag: 'Balances',
  query: {
    ...POSITION,
    by: single(z.enum(['currency', 'address']), 'By currency unless told.'),
    source: sourceFilter,
    currency: currencyFilter,
    stale: single(
      z.enum(['true', 'false']).transform((text) => text === 'true'),
      'Only those that were not seen again since a reset, or only the others.',
    ),
  },
  answers: { 200: { description: 'A page of them.', schema: listSchema(balanceSchema) } },
  handler: (call) => {
    const { by = 'currency', source, currency, stale } = call.query;
    return answerBalances(call, { by, filters: { 's.account': source, 'b.currency': currency }, stale });
  },
});

export const getAddressBalances = defineRoute({
  method: 'GET',
  path: '/v1/balances/{address}',
  operationId: 'getAddressBalances',
  summary: 'Read the balances of one address: one for each source and currency',
  tag: 'Balances',
  query: POSITION,
  answers: {
    200: { description: 'A page of them; none where nothing was seen of it.', schema: listSchema(balanceSchema) },
  },
  handler: (call) =>
    answerBalances(call, {
      ...{ by: 'address', filters: { 'b.address': [call.params['address'] ?? ''] } },
      stale: undefined,
    }),
});

export const listBalanceChecksRoute = defineRoute({
  method: 'GET',
  path: '/v1/balance-checks',
  operationId: 'listBalanceChecks',
  summary: 'List the comparisons with what providers state, newest first',
  tag: 'Balances',
  query: {
    ...PAGE_PARAMETERS,
    source: sourceFilter,
    result: filter(balanceCheckResult, 'How it ended.'),
  },
  answers: { 200: { description: 'A page of them.', schema: listSchema(balanceCheckSchema) } },
  handler: (call) => {
    const { source, result } = call.query;
    const filters = { 's.account': source, 'c.result': result };
    return answerList(call, {
      find: (page) => listBalanceChecks(call.deps.db, { ...call.caller, ...page, filters }),
      show: toBalanceCheck,
      position: (record) => record.id,
    });
  },
});

export const getBalanceCheck = defineRoute({
  method: 'GET',
  path: '/v1/balance-checks/{id}',
  operationId: 'getBalanceCheck',
  summary: 'Read a comparison',
  tag: 'Balances',
  query: {},
  answers: { 200: { description: 'The check.', schema: balanceCheckSchema } },
  handler: readById('balanceCheck', async ({ deps, caller }, id) => {
    const record = await findBalanceCheck(deps.db, { id, ...caller });
    return toBalanceCheck(record ?? notFound());
  }),
});

/** A page of balances of the caller's merchant. */
function answerBalances(
  call: Call<Position, unknown>,
  of: Pick<Parameters<typeof listBalances>[1], 'by' | 'filters' | 'stale'>,
): Promise<Answer> {
  return answerList(
    { ...call, query: { ...call.query, ...NO_PERIOD } },
    {
      find: ({ after, limit }) => listBalances(call.deps.db, { ...call.caller, ...of, after, limit }),
      show: toBalance,
      position: (record) => record.position,
    },
  );
}

type Position = Omit<Parameters<typeof answerList>[0]['query'], keyof typeof NO_PERIOD>;
