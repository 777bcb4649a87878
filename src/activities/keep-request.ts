import type { Accepted, RequestInput } from '../contracts/messages.js';
import { Retryable } from '../db/errors.js';
import { findRequest, holdRequest, keepRequest, type RequestOutcome } from '../db/requests.js';
import type { Tx } from '../db/transaction.js';
import type { Book } from '../domain/books.js';

/** A client's call, as its workflow carries it. */
export interface OfRequest {
  readonly book: Book;
  readonly merchantId: string;
  readonly traceId: string;
  readonly request: RequestInput;
}

/** What a kept request answers, also to another run of it; null when it led nowhere yet. Holds its name meanwhile. */
export async function answerKept(tx: Tx, { request }: OfRequest): Promise<Accepted | null> {
  await holdRequest(tx, request.id);
  const known = await findRequest(tx, request.id);
  if (!known) return null;
  const { resourceType: type, resourceId: id, made, refusal } = known;
  const resource = type === null || id === null ? null : { type, id, made: made === true };
  return { fingerprint: known.fingerprint.toString('hex'), resource, refusal };
}

/** Keeps what the key leads to, for ever. Throws `Retryable` when another run has kept it meanwhile. */
export async function keepOutcome(tx: Tx, of: OfRequest, outcome: RequestOutcome): Promise<Accepted> {
  if (!(await keepRequest(tx, of, outcome))) {
    throw new Retryable('The request was kept by another run meanwhile.', { cause: of.request.id });
  }
  return { fingerprint: of.request.fingerprint, resource: outcome.resource, refusal: outcome.refusal };
}
