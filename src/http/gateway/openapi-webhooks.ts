import { z } from 'zod';
import { cardSchema } from '../../contracts/card.js';
import { depositSchema } from '../../contracts/deposit.js';
import { loadSchema } from '../../contracts/load.js';
import { receivableSchema } from '../../contracts/receivable.js';
import { bookSchema } from '../../contracts/values.js';

const DEPOSIT_EVENTS = {
  'deposit.confirming': 'The deposit waits for its provider or its chain.',
  'deposit.credited': 'The deposit is in the wallet.',
  'deposit.final': 'The deposit can no longer be taken back by its chain.',
  'deposit.orphaned': 'The deposit was credited and its block is gone.',
  'deposit.rejected': 'The provider refused the deposit.',
  'deposit.dropped': 'The deposit left the chain before it was credited.',
} as const;

const CARD_EVENTS = {
  'card.active': 'The card is issued.',
  'card.failed': 'No card came of the issuance; what was reserved is released.',
  'card.frozen': 'The card is frozen: nothing is spent with it.',
  'card.unfrozen': 'The card is active again.',
  'card.closed': 'The card is closed for ever.',
} as const;

const LOAD_EVENTS = {
  'load.completed': 'The load is on the card.',
  'load.failed': 'The issuer declined the load; what was reserved is released.',
} as const;

const RECEIVABLE_EVENTS = {
  'receivable.opened': 'The owner owes what was taken back and was no longer there; money out is refused.',
  'receivable.settled': 'The owner owes nothing any more.',
} as const;

/** Events that exist, by type: the body of each webhook (API.md 5). */
export const EVENTS = [
  ...eventsOf(DEPOSIT_EVENTS, depositSchema),
  ...eventsOf(CARD_EVENTS, cardSchema),
  ...eventsOf(LOAD_EVENTS, loadSchema),
  ...eventsOf(RECEIVABLE_EVENTS, receivableSchema),
];

function eventsOf(summaries: Readonly<Record<string, string>>, data: z.ZodType) {
  return Object.entries(summaries).map(([type, summary]) => ({
    type,
    summary,
    schema: z.object({
      object: z.literal('event'),
      id: z.string(),
      type: z.literal(type),
      book: bookSchema,
      created_at: z.string(),
      trace_id: z.string().nullable(),
      data,
    }),
  }));
}

/** Headers of every delivery (Standard Webhooks). */
export const WEBHOOK_HEADERS = [
  { name: 'webhook-id', description: "The event's id, the same in every attempt: dedupe by it." },
  { name: 'webhook-timestamp', description: 'Unix seconds of this attempt.' },
  { name: 'webhook-signature', description: '`v1,` and base64 of the HMAC; two of them during a rotation.' },
  { name: 'traceparent', description: 'The trace that the event belongs to.' },
] as const;
