import type { CardRecord } from '../../../contracts/card.js';
import { isId } from '../../../contracts/ids.js';
import { listSchema } from '../../../contracts/list.js';
import { type LoadBody, loadInputSchema, loadSchema, toLoad, understandLoad } from '../../../contracts/load.js';
import { findCard } from '../../../db/cards.js';
import { findLoad, listLoads } from '../../../db/loads.js';
import { Problem, validationProblem } from '../../problem.js';
import type { Call } from '../call.js';
import { creationHandler } from '../creation.js';
import { answerList } from '../list.js';
import { PAGE_PARAMETERS } from '../parameters.js';
import { requireProvider } from '../provider-account.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';

export const createLoad = defineRoute({
  method: 'POST',
  path: '/v1/cards/{id}/loads',
  operationId: 'createLoad',
  summary: 'Load a card from the wallet, once',
  tag: 'Cards',
  needsKey: true,
  query: {},
  body: loadInputSchema,
  answers: {
    201: { description: 'Loaded.', schema: loadSchema, location: true },
    202: {
      description: 'Accepted and reserved; the issuer has not answered for certain yet.',
      schema: loadSchema,
      location: true,
    },
  },
  problems: [
    'insufficient_funds',
    'receivable_outstanding',
    'issuer_declined',
    'card_frozen',
    'card_closed',
    'invalid_state',
    'outcome_unknown',
    'provider_unavailable',
  ],
  handler: creationHandler({
    // Whose the card is and its asset never change.
    understand: async (call: Call<object, LoadBody>) => {
      const { id: cardId, asset } = await cardOf(call);
      const amount = understandLoad(call.body, asset);
      if (typeof amount !== 'string') throw validationProblem([amount]);
      return { cardId, asset, amount };
    },
    fingerprinted: ({ asset, amount }) => ({ asset, amount }),
    start: async (call, meaning, { request, deadlineMs }) => {
      const { book, merchantId } = call.caller;
      const at = await requireProvider(call, 'issuer');
      const { state, changing } = await cardOf(call);
      // Active here, and the issuer does not know yet: he would decline what is allowed in a moment.
      if (state === 'active' && changing) throw new Problem('outcome_unknown', { headers: { 'retry-after': '1' } });
      return call.deps.starts.cardLoad(
        { ...meaning, ...at, book, merchantId, request, traceId: call.traceId },
        deadlineMs,
      );
    },
  }),
});

export const getLoad = defineRoute({
  method: 'GET',
  path: '/v1/loads/{id}',
  operationId: 'getLoad',
  summary: 'Read a load',
  tag: 'Cards',
  query: {},
  answers: { 200: { description: 'The load.', schema: loadSchema } },
  handler: readById('load', async ({ deps, caller }, id) => {
    const record = await findLoad(deps.db, { id, ...caller });
    return toLoad(record ?? notFound());
  }),
});

export const listLoadsRoute = defineRoute({
  method: 'GET',
  path: '/v1/cards/{id}/loads',
  operationId: 'listLoads',
  summary: 'List the loads of a card, newest first; the one it was issued with is not among them',
  tag: 'Cards',
  query: PAGE_PARAMETERS,
  answers: { 200: { description: 'A page of them.', schema: listSchema(loadSchema) } },
  handler: async (call) => {
    const { id } = await cardOf(call);
    return answerList(call, {
      find: (page) => listLoads(call.deps.db, call.caller, { filters: { 'l.card_id': [id] }, page }),
      show: toLoad,
      position: (record) => record.id,
    });
  },
});

async function cardOf({ deps, caller, params }: Call<unknown, unknown>): Promise<CardRecord> {
  const id = params['id'] ?? '';
  const card = isId('card', id) ? await findCard(deps.db, { id, ...caller }) : null;
  return card ?? notFound();
}
