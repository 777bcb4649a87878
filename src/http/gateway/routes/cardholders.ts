import {
  type CardholderBody,
  type CardholderPatch,
  cardholderInputSchema,
  cardholderPatchSchema,
  cardholderSchema,
  identityOf,
  initialsOf,
  toCardholder,
  understandCardholder,
} from '../../../contracts/cardholder.js';
import { isId } from '../../../contracts/ids.js';
import { listSchema } from '../../../contracts/list.js';
import { createCardholder, eraseCardholder, findCardholder, reviseCardholder } from '../../../db/cardholders.js';
import { listCardholders } from '../../../db/cardholders-listing.js';
import { CommitUnknown } from '../../../db/errors.js';
import { newId } from '../../../db/new-id.js';
import { Problem } from '../../problem.js';
import type { Answer, Call, StartOutcome } from '../call.js';
import { creationHandler } from '../creation.js';
import { fingerprint, keyed, type Understood } from '../idempotency.js';
import { answerList } from '../list.js';
import { filter, PAGE_PARAMETERS } from '../parameters.js';
import { notFound, readById } from '../read-by-id.js';
import { defineRoute } from '../route.js';
import { fingerprintKey, sealIdentity, sealingKey } from '../sealing.js';

const TAG = 'Cardholders';
/** So often another change of the same cardholder may come between reading him and sealing for him. */
const REVISE_TRIES = 5;

export const createCardholderRoute = defineRoute({
  method: 'POST',
  path: '/v1/cardholders',
  operationId: 'createCardholder',
  summary: 'Register a person once; his identity is sealed here and never shown again',
  tag: TAG,
  needsKey: true,
  query: {},
  body: cardholderInputSchema,
  answers: { 201: { description: 'Made, and definite.', schema: cardholderSchema, location: true } },
  handler: creationHandler({
    understand: (call: Call<object, CardholderBody>) => understandCardholder(call.body),
    fingerprinted: (meaning) => toUnderstood({ ...meaning, reference: meaning.reference ?? null }),
    isPersonal: true,
    start: async (call, meaning, { request }): Promise<StartOutcome> => {
      const { book, merchantId } = call.caller;
      const id = newId('cardholder');
      const identity = sealIdentity(sealingKey(call.deps), { cardholderId: id, revision: 1 }, identityOf(meaning));
      const cardholder = {
        id,
        book,
        merchantId,
        initials: initialsOf(meaning),
        country: meaning.country,
        reference: meaning.reference ?? null,
        identity,
        request,
        traceId: call.traceId,
      };
      try {
        const made = await call.deps.transact((tx) => createCardholder(tx, cardholder));
        // Another call of this key was first: its row answers.
        if (!made) return { kind: 'closed' };
      } catch (error) {
        if (error instanceof CommitUnknown) return { kind: 'unknown' };
        throw error;
      }
      const resource = { type: 'cardholder', id, made: true };
      return { kind: 'accepted', accepted: { fingerprint: request.fingerprint, resource, refusal: null } };
    },
  }),
});

export const getCardholder = defineRoute({
  method: 'GET',
  path: '/v1/cardholders/{id}',
  operationId: 'getCardholder',
  summary: 'Read a cardholder: initials and country, nothing else of the person',
  tag: TAG,
  query: {},
  answers: { 200: { description: 'The cardholder.', schema: cardholderSchema } },
  handler: readById('cardholder', async ({ deps, caller }, id) => {
    const record = await findCardholder(deps.db, { id, ...caller });
    return toCardholder(record ?? notFound());
  }),
});

export const listCardholdersRoute = defineRoute({
  method: 'GET',
  path: '/v1/cardholders',
  operationId: 'listCardholders',
  summary: 'List cardholders, newest first',
  tag: TAG,
  query: {
    ...PAGE_PARAMETERS,
    state: filter(cardholderSchema.shape.state, 'Its state.'),
    reference: filter(cardholderInputSchema.shape.reference.unwrap().unwrap(), 'Your own name for him.'),
  },
  answers: { 200: { description: 'A page of them.', schema: listSchema(cardholderSchema) } },
  handler: (call) =>
    answerList(call, {
      find: (page) => {
        const { state, reference } = call.query;
        return listCardholders(call.deps.db, call.caller, {
          filters: { 'h.state': state, 'h.reference': reference },
          page,
        });
      },
      show: toCardholder,
      position: (record) => record.id,
    }),
});

export const reviseCardholderRoute = defineRoute({
  method: 'PATCH',
  path: '/v1/cardholders/{id}',
  operationId: 'reviseCardholder',
  summary: 'Change any part of an identity: a new revision, which cards issued before do not see',
  tag: TAG,
  query: {},
  body: cardholderPatchSchema,
  answers: { 200: { description: 'The cardholder as he is now.', schema: cardholderSchema } },
  problems: ['cardholder_erased'],
  handler: revise,
});

export const eraseCardholderRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/cardholders/{id}',
  operationId: 'eraseCardholder',
  summary: 'Erase an identity for ever; the row stays, and so do the cards',
  tag: TAG,
  query: {},
  answers: { 200: { description: 'The erased cardholder; also when he was erased before.', schema: cardholderSchema } },
  handler: async (call: Call<object, null>): Promise<Answer> => {
    const id = cardholderId(call);
    const { book, merchantId } = call.caller;
    const found = await call.deps.transact((tx) =>
      eraseCardholder(tx, { id, book, merchantId, traceId: call.traceId }),
    );
    if (!found) notFound();
    return answerNow(call, id);
  },
});

/** A change is sealed for the next revision; when another came between, it is sealed again for the one after. */
async function revise(call: Call<object, CardholderPatch>): Promise<Answer> {
  const id = cardholderId(call);
  const { book, merchantId } = call.caller;
  const change = understandCardholder(call.body);
  const plain = fingerprint(call.method, call.path, toUnderstood(change));
  const common = {
    id,
    book,
    merchantId,
    initials: initialsOf(change),
    country: change.country ?? null,
    reference: change.reference,
    fingerprint: keyed(fingerprintKey(call.deps), plain),
    traceId: call.traceId,
  };
  for (let tries = 1; tries <= REVISE_TRIES; tries += 1) {
    const current = (await findCardholder(call.deps.db, { id, book, merchantId })) ?? notFound();
    if (current.state === 'erased') throw new Problem('cardholder_erased');
    const toRevision = current.revision + 1;
    const sealedFor = { cardholderId: id, revision: toRevision };
    const identity = sealIdentity(sealingKey(call.deps), sealedFor, identityOf(change));
    const outcome = await call.deps.transact((tx) => reviseCardholder(tx, { ...common, toRevision, identity }));
    if (outcome === 'revised' || outcome === 'unchanged') return answerNow(call, id);
    if (outcome === 'erased') throw new Problem('cardholder_erased');
    if (outcome === 'not_found') notFound();
  }
  throw new Problem('temporarily_unavailable', { headers: { 'retry-after': '1' } });
}

async function answerNow(call: Call<object, unknown>, id: string): Promise<Answer> {
  const record = await findCardholder(call.deps.db, { id, ...call.caller });
  return { status: 200, body: toCardholder(record ?? notFound()) };
}

function cardholderId({ params }: Call<object, unknown>): string {
  const id = params['id'] ?? '';
  return isId('cardholder', id) ? id : notFound();
}

/** As it enters the fingerprint; a member that is not given is not in it. */
function toUnderstood(body: CardholderPatch): Understood {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
