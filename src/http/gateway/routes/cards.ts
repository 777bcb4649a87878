import {
  type CardBody,
  type CardMeaning,
  cardInputSchema,
  cardSchema,
  toCard,
  understandCard,
} from '../../../contracts/card.js';
import { isId } from '../../../contracts/ids.js';
import { listSchema } from '../../../contracts/list.js';
import { findCardholder } from '../../../db/cardholders.js';
import { cardFee, findCard, listCards } from '../../../db/cards.js';
import { Problem, validationProblem } from '../../problem.js';
import type { Call } from '../call.js';
import { creationHandler } from '../creation.js';
import { answerList } from '../list.js';
import { filter, PAGE_PARAMETERS } from '../parameters.js';
import { requireProvider } from '../provider-account.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';

export const createCard = defineRoute({
  method: 'POST',
  path: '/v1/cards',
  operationId: 'createCard',
  summary: 'Issue a card: load and fee are reserved, the issuer makes it, once',
  tag: 'Cards',
  needsKey: true,
  query: {},
  body: cardInputSchema,
  answers: {
    201: { description: 'Issued.', schema: cardSchema, location: true },
    202: {
      description: 'Accepted and reserved; the issuer has not answered for certain yet.',
      schema: cardSchema,
      location: true,
    },
  },
  problems: [
    'asset_not_supported',
    'insufficient_funds',
    'receivable_outstanding',
    'issuer_declined',
    'cardholder_erased',
    'provider_unavailable',
  ],
  handler: creationHandler({
    understand: (call: Call<object, CardBody>) => understand(call.body),
    fingerprinted: (meaning) => ({ ...meaning }),
    start: async (call, meaning, { request, deadlineMs }) => {
      await requirePresent(call, meaning);
      const { book, merchantId } = call.caller;
      const at = await requireProvider(call, 'issuer');
      const input = { ...meaning, ...at, book, merchantId, request, generation: 0, traceId: call.traceId };
      return call.deps.starts.issuance(input, deadlineMs);
    },
  }),
});

export const getCard = defineRoute({
  method: 'GET',
  path: '/v1/cards/{id}',
  operationId: 'getCard',
  summary: 'Read a card: its masked number and last four digits, nothing else of it',
  tag: 'Cards',
  query: {},
  answers: { 200: { description: 'The card.', schema: cardSchema } },
  handler: readById('card', async ({ deps, caller }, id) => {
    const record = await findCard(deps.db, { id, ...caller });
    return toCard(record ?? notFound());
  }),
});

const listParameters = {
  ...PAGE_PARAMETERS,
  state: filter(cardSchema.shape.state, 'Its state.'),
  cardholder_id: filter(cardSchema.shape.cardholder_id, 'Whose it is.'),
  last4: filter(cardSchema.shape.cardholder_id.regex(/^[0-9]{4}$/), 'The last four digits of its number.'),
};

export const listCardsRoute = defineRoute({
  method: 'GET',
  path: '/v1/cards',
  operationId: 'listCards',
  summary: 'List cards, newest first',
  tag: 'Cards',
  query: listParameters,
  answers: { 200: { description: 'A page of them.', schema: listSchema(cardSchema) } },
  handler: (call) =>
    answerList(call, {
      find: (page) => {
        const { state, cardholder_id, last4 } = call.query;
        const filters = { 'c.state': state, 'c.cardholder_id': cardholder_id, 'c.last4': last4 };
        return listCards(call.deps.db, call.caller, { filters, page });
      },
      show: toCard,
      position: (record) => record.id,
    }),
});

function understand(body: CardBody): CardMeaning {
  const meaning = understandCard(body);
  if (!('code' in meaning)) return meaning;
  const { code, pointer, detail } = meaning;
  if (code === 'validation') throw validationProblem([{ pointer, detail }]);
  throw new Problem(code, { errors: [{ pointer, detail }] });
}

/** What may be otherwise tomorrow: the key stays free. */
async function requirePresent({ deps, caller }: Call<object, CardBody>, meaning: CardMeaning): Promise<void> {
  const { cardholderId: id, product, asset } = meaning;
  const { book, merchantId } = caller;
  const holder = isId('cardholder', id) ? await findCardholder(deps.db, { id, book, merchantId }) : null;
  if (!holder) throw validationProblem([{ pointer: '/cardholder_id', detail: 'no cardholder of yours has this id' }]);
  if ((await cardFee(deps.db, { merchantId, product, asset })) === null) {
    const detail = `${product} cards are not offered in this asset`;
    throw new Problem('asset_not_supported', { errors: [{ pointer: '/load/asset', detail }] });
  }
}
