/** Every type of event that WIRE.md names, in the feed and in webhooks. */
export const ISSUER_EVENT_TYPES = [
  'card.issued',
  'card.declined',
  'card.changed',
  'authorization.approved',
  'authorization.declined',
  'authorization.incremented',
  'authorization.partially_reversed',
  'authorization.reversed',
  'authorization.expired',
  'clearing.posted',
  'clearing.forced',
  'refund.posted',
  'refund.reversed',
  'dispute.credited',
  'dispute.reversed',
  'fee.charged',
] as const;
export type IssuerEventType = (typeof ISSUER_EVENT_TYPES)[number];
