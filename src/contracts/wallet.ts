import { z } from 'zod';
import type { Minor } from '../domain/money.js';
import { amountSchema, type Owner, ownerSchema, toAmount, toTime } from './values.js';

/** What an owner has of one asset, in minor units. */
export interface WalletBalanceRecord {
  asset: string;
  /** Spendable. */
  available: Minor;
  /** Reserved out of the wallet. */
  held: Minor;
  /** Credited early, not final yet. */
  incoming: Minor;
  onCards: Minor;
  /** What the owner owes: zero or more. */
  receivable: Minor;
  lastMovementId: string | null;
}

/** What the API shows of a wallet: one row per asset that ever moved (API.md 3). */
export const walletSchema = z.object({
  object: z.literal('wallet'),
  id: z.string(),
  owner: ownerSchema,
  balances: z.array(
    z.object({
      asset: z.string(),
      available: amountSchema,
      held: amountSchema,
      incoming: amountSchema,
      on_cards: amountSchema,
      receivable: amountSchema,
      net: amountSchema,
      last_movement_id: z.string().nullable(),
    }),
  ),
  as_of: z.string(),
});
export type WalletResource = z.infer<typeof walletSchema>;

export function toWallet(wallet: {
  id: string;
  owner: Owner;
  balances: readonly WalletBalanceRecord[];
  asOf: Date;
}): WalletResource {
  return {
    object: 'wallet',
    id: wallet.id,
    owner: wallet.owner,
    balances: wallet.balances.map((row) => ({
      asset: row.asset,
      available: toAmount(row.available, row.asset),
      held: toAmount(row.held, row.asset),
      incoming: toAmount(row.incoming, row.asset),
      on_cards: toAmount(row.onCards, row.asset),
      receivable: toAmount(row.receivable, row.asset),
      net: toAmount(row.available - row.receivable, row.asset),
      last_movement_id: row.lastMovementId,
    })),
    as_of: toTime(wallet.asOf),
  };
}
