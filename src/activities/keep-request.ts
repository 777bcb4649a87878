import type { Accepted, RequestInput } from '../contracts/messages.js';
import type { Amount } from '../contracts/values.js';
import { Retryable } from '../db/errors.js';
import { HoldRefused, holdRefusal, tellRefused } from '../db/hold-refused.js';
import { findRequest, holdRequest, keepRequest, type RequestOutcome } from '../db/requests.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, type Tx } from '../db/transaction.js';
import type { Book } from '../domain/books.js';
import type { ActivityDeps } from './deps.js';

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

/** How a request that takes money is answered. */
export interface MoneyRequest<Reserved> {
  /** Everything in one commit, with the money; throws `HoldRefused` when that is not to be had. */
  reserve(tx: Tx): Promise<Reserved>;
  /** What it would have taken, for the merchant who is told of it. */
  amount(tx: Tx): Promise<Amount>;
  /** The answer when nothing was reserved. */
  refused(accepted: Accepted): Reserved;
}

/** Reserves, or keeps the refusal: it is what the key leads to, for ever, and the merchant is told once. */
export async function reserveOrRefuse<Reserved>(
  { pool }: Pick<ActivityDeps, 'pool'>,
  of: OfRequest,
  { reserve, amount, refused }: MoneyRequest<Reserved>,
): Promise<Reserved> {
  const refuse = async (tx: Tx, why: HoldRefused): Promise<Accepted> => {
    const kept = await answerKept(tx, of);
    if (kept) return kept;
    const accepted = await keepOutcome(tx, of, { resource: null, refusal: holdRefusal(why) });
    if (why.code === 'insufficient_funds') await tellRefused(tx, of, await amount(tx));
    return accepted;
  };
  try {
    return await retrying(() => inTransaction(pool, reserve));
  } catch (error) {
    if (!(error instanceof HoldRefused)) throw error;
    return refused(await retrying(() => inTransaction(pool, (tx) => refuse(tx, error))));
  }
}
