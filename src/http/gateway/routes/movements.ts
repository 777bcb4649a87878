import { z } from 'zod';
import { listSchema } from '../../../contracts/list.js';
import { movementKindSchema, movementSchema, toMovement } from '../../../contracts/movement.js';
import { referenceSchema } from '../../../contracts/values.js';
import { findMovement, followMovements, type ListedMovement, listMovements } from '../../../db/movements.js';
import { answerFollowed, answerList } from '../list.js';
import { assetFilter, filter, PAGE_PARAMETERS, single } from '../parameters.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';

export const getMovement = defineRoute({
  method: 'GET',
  path: '/v1/movements/{id}',
  operationId: 'getMovement',
  summary: 'Read a movement with its entries',
  tag: 'Wallet',
  query: {},
  answers: { 200: { description: 'The movement.', schema: movementSchema } },
  handler: readById('movement', async ({ deps, caller }, id) =>
    toMovement((await findMovement(deps.db, caller, id)) ?? notFound()),
  ),
});

const word = z.string().regex(/^[a-z]+(_[a-z]+)*$/, 'must be a word such as deposit');
const listParameters = {
  ...PAGE_PARAMETERS,
  asset: assetFilter,
  kind: filter(movementKindSchema, 'What it was for.'),
  subject_type: filter(word.max(64), 'The kind of thing it is about: `deposit`, `card`.'),
  subject_id: filter(
    z.string().regex(/^[a-z]+_[0-9a-z]{1,64}$/, 'must be an id such as dep_…'),
    'The thing it is about.',
  ),
  customer_ref: filter(referenceSchema, "The merchant's name of a customer whose account it touched."),
  order: single(
    z.enum(['asc', 'desc']),
    '`desc`, the default: newest first. `asc`: in commit order, always with a `next_cursor` to follow.',
  ),
};

export const listMovementsRoute = defineRoute({
  method: 'GET',
  path: '/v1/movements',
  operationId: 'listMovements',
  summary: "List movements of the merchant and his customers: the wallet's statement",
  tag: 'Wallet',
  query: listParameters,
  answers: { 200: { description: 'A page of them.', schema: listSchema(movementSchema) } },
  handler: (call) => {
    const { kind, subject_type, subject_id, asset, customer_ref, order } = call.query;
    const filters = { kind, subjectType: subject_type, subjectId: subject_id, asset, customerRef: customer_ref };
    const { deps, caller } = call;
    const shown = {
      show: ({ movement }: ListedMovement) => toMovement(movement),
      position: ({ position }: ListedMovement) => position,
    };
    if (order !== 'asc') {
      return answerList(call, { ...shown, find: (page) => listMovements(deps.db, caller, { filters, page }) });
    }
    return answerFollowed(call, {
      ...shown,
      find: async (page) => {
        const { movements, end } = await followMovements(deps.db, caller, { filters, page });
        return { rows: movements, end };
      },
    });
  },
});
