import { isId } from '../../../contracts/ids.js';
import type { RequestResource } from '../../../contracts/request.js';
import { requestSchema, toDoneRequest } from '../../../contracts/request.js';
import { findRequest, type RequestRecord } from '../../../db/requests.js';
import { problemBody } from '../../problem.js';
import type { Answer, Call } from '../call.js';
import { answerResource, refused } from '../creation.js';
import { notFound } from '../read-by-id.js';
import { openRequest } from '../request-state.js';
import { kindOf } from '../resource-kinds.js';
import { defineRoute } from '../route.js';

export const getRequest = defineRoute({
  method: 'GET',
  path: '/v1/requests/{id}',
  operationId: 'getRequest',
  summary: 'Ask what a call with an Idempotency-Key led to',
  tag: 'Requests',
  query: {},
  answers: {
    200: {
      description: 'The request; `not_seen` also before a row exists.',
      schema: requestSchema,
      retryAfter: true,
    },
  },
  handler: answerRequest,
});

async function answerRequest(call: Call<object, null>): Promise<Answer> {
  const id = call.params.id ?? '';
  if (!isId('request', id)) notFound();
  const row = await findRequest(call.deps.db, id);
  // The id of another merchant's request is answered like one that was never made.
  if (!row || row.merchantId !== call.caller.merchantId || row.book !== call.caller.book) {
    const { body } = await openRequest(call, id);
    return { status: 200, body, headers: { 'retry-after': '1' } };
  }
  return {
    status: 200,
    body: toDoneRequest(row, row.refusal ? ledToRefusal(row, row.refusal) : await ledTo(call, row)),
  };
}

function ledToRefusal(row: RequestRecord, refusal: NonNullable<RequestRecord['refusal']>) {
  const problem = refused(refusal, {});
  const body = problemBody(problem, { path: row.path, traceId: row.traceId ?? '' });
  return { resource: null, response: { status: body.status, body: { ...body } } };
}

async function ledTo(
  call: Call<object, null>,
  row: RequestRecord,
): Promise<Pick<RequestResource, 'resource' | 'response'> & { updatedAt: string | undefined }> {
  const kind = kindOf(row.resourceType ?? '');
  const loaded = await kind.load(call.deps.db, call.caller, row.resourceId ?? '');
  if (!loaded) throw new Error(`${row.id} leads to ${row.resourceId}, which is not there.`);
  const { id, updated_at: updatedAt } = loaded.body;
  const resource = { type: kind.type, id, url: kind.url(id) };
  if (loaded.refusal) return { resource, response: ledToRefusal(row, loaded.refusal).response, updatedAt };
  const { status } = answerResource(kind, loaded, row.made === true);
  return { resource, response: { status, body: loaded.body }, updatedAt };
}
