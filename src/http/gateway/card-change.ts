import { type CardRecord, toChangedCard } from '../../contracts/card.js';
import { isId } from '../../contracts/ids.js';
import type { Refusal, RequestInput } from '../../contracts/messages.js';
import { type CardChangeRequested, requestCardChange } from '../../db/card-changes.js';
import { findCard } from '../../db/cards.js';
import { CommitUnknown } from '../../db/errors.js';
import { findRequest } from '../../db/requests.js';
import type { CardChangeKind } from '../../domain/card-change.js';
import { Problem } from '../problem.js';
import type { Answer, Call } from './call.js';
import { answerLed, perhapsAccepted, refused, replay, withPreference } from './creation.js';
import { readIdempotencyKey, toRequestInput } from './idempotency.js';
import { readPreference } from './prefer.js';
import { notFound } from './read-by-id.js';

type ChangeCall = Call<unknown, unknown>;

/** So often the card may be another one between reading it and changing it. */
const TRIES = 5;

/**
 * The handler of a change: a known key is answered first; then it is true here in one commit, and the issuer is told.
 * The answer waits for his word as a create does for its object: 200 with it, 202 until then.
 */
export function cardChangeHandler(kind: CardChangeKind) {
  return async (call: ChangeCall): Promise<Answer> => {
    const preference = readPreference(call.header('prefer'));
    const until = Date.now() + preference.waitMs;
    const key = readIdempotencyKey(call.header('idempotency-key'));
    const request = toRequestInput(call.caller, { key, method: call.method, path: call.path, understood: {} });
    const answered = (await replay(call, request, until)) ?? (await first());
    return withPreference(answered, preference);

    async function first(): Promise<Answer> {
      const done = await changeOnce(call, kind, request);
      if (done === null) return perhapsAccepted(call, request);
      const { answer, card, number } = done;
      if (answer === 'refused') throw refused(await keptRefusal(call, request), {});
      if (answer === 'kept') {
        const kept = await replay(call, request, until);
        if (!kept) throw new Error(`The key of ${request.id} led somewhere, and its row is not there.`);
        return kept;
      }
      if (number !== null) await tell(call, card, number);
      const led = { resourceType: 'card', resourceId: card.id, made: false };
      return answerLed(call, led, { until, headers: {} });
    }
  };
}

/** Null when the answer to the commit was lost: perhaps it is so. */
async function changeOnce(call: ChangeCall, kind: CardChangeKind, request: RequestInput) {
  try {
    return await change(call, kind, request);
  } catch (error) {
    if (error instanceof CommitUnknown) return null;
    throw error;
  }
}

/** In one commit with the request; when the card has moved since it was read, it is read again. */
async function change(
  call: ChangeCall,
  kind: CardChangeKind,
  request: RequestInput,
): Promise<CardChangeRequested & { readonly card: CardRecord }> {
  const { deps, caller, traceId } = call;
  const { book, merchantId } = caller;
  const id = call.params['id'] ?? '';
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const card = (isId('card', id) ? await findCard(deps.db, { id, book, merchantId }) : null) ?? notFound();
    const wanted = { cardId: id, kind, book, merchantId, seenVersion: card.version, request, traceId };
    const done = await deps.transact((tx) => requestCardChange(tx, { ...wanted, shown: toChangedCard(card, kind) }));
    if (done.answer === 'not_found') notFound();
    if (done.answer === 'outcome_unknown') throw new Problem('outcome_unknown', { headers: { 'retry-after': '1' } });
    if (done.answer !== 'stale') return { ...done, card };
  }
  throw new Problem('temporarily_unavailable', { headers: { 'retry-after': '1' } });
}

async function keptRefusal({ deps }: ChangeCall, { id }: RequestInput): Promise<Refusal> {
  const row = await findRequest(deps.db, id);
  if (!row?.refusal) throw new Error(`${id} was refused, and its row does not say why.`);
  return row.refusal;
}

/** The change stands already: where Temporal does not take it, the sweep starts it. */
async function tell(call: ChangeCall, card: CardRecord, number: number): Promise<void> {
  const { book, merchantId } = call.caller;
  if (card.provider !== 'issuer') throw new Error(`Card ${card.id} is of provider ${card.provider}.`);
  const of = { book, merchantId, provider: 'issuer', account: card.providerAccount, cardId: card.id } as const;
  await call.deps.starts.cardChange({ ...of, number, traceId: call.traceId }).catch((error: unknown) => {
    call.deps.log.warn('a change of a card was not started; the sweep does it', { card_id: card.id, error });
  });
}
