import { z } from 'zod';
import type { Minor } from '../domain/money.js';
import { amountSchema, type Owner, ownerSchema, toAmount } from './values.js';

/** What an owner owes, as `receivable.opened` and `receivable.settled` tell it (API.md 5). */
export const receivableSchema = z.object({
  object: z.literal('receivable'),
  owner: ownerSchema,
  /** What is owed behind this movement; zero when it is settled. */
  amount: amountSchema,
  movement_id: z.string(),
});
export type ReceivableResource = z.infer<typeof receivableSchema>;

export function toReceivable(of: { owner: Owner; owed: Minor; asset: string; movementId: string }): ReceivableResource {
  const { owner, owed, asset, movementId } = of;
  return { object: 'receivable', owner, amount: toAmount(owed, asset), movement_id: movementId };
}
