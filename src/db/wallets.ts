import type { WalletBalanceRecord } from '../contracts/wallet.js';
import type { Owner } from '../domain/journal.js';
import { movementId } from './new-id.js';
import type { Tx } from './transaction.js';

interface BalanceRow {
  asset: string;
  available: string;
  held: string;
  incoming: string;
  onCards: string;
  receivable: string;
  lastKey: Buffer | null;
  asOf: Date;
}

/**
 * What an owner has, by asset, and when that was so: one statement, so that one moment is shown. An asset is there
 * once anything of it moved on a wallet, hold, card or receivable of this owner. To show, never to decide from.
 */
export async function readWallet(db: Tx, owner: Owner): Promise<{ balances: WalletBalanceRecord[]; asOf: Date }> {
  // Two forms, because an index is of no use to IS NOT DISTINCT FROM.
  const owned = owner.customerId === null ? 'b.customer_id is null and $3::text is null' : 'b.customer_id = $3';
  const rows = await db.query<BalanceRow>(
    `with mine as (
       select * from ledger.account_balance b
        where b.book = $1 and b.merchant_id = $2 and ${owned}
          and b.kind in ('wallet', 'hold', 'card', 'receivable') and b.seq > 0),
     by_asset as (
       select asset,
         coalesce(sum(balance) filter (where kind = 'wallet'), 0) as available,
         coalesce(sum(balance) filter (where kind = 'hold' and ref not like 'dep\\_%'), 0) as held,
         coalesce(sum(balance) filter (where kind = 'hold' and ref like 'dep\\_%'), 0) as incoming,
         coalesce(sum(balance) filter (where kind = 'card'), 0) as on_cards,
         -coalesce(sum(balance) filter (where kind = 'receivable'), 0) as receivable,
         max(last_movement_id) as last_movement
       from mine group by asset)
     select a.asset, a.available::text, a.held::text, a.incoming::text, a.on_cards::text as "onCards",
       a.receivable::text, m.key as "lastKey", now() as "asOf"
     from (select now()) moment
       left join by_asset a on true left join ledger.movement m on m.id = a.last_movement
     order by a.asset collate "C"`,
    [owner.book, owner.merchantId, owner.customerId],
  );
  const asOf = rows[0]?.asOf;
  if (!asOf) throw new Error('readWallet: the database answered no moment, which no state of it explains.');
  return { balances: rows.filter((row) => row.asset !== null).map(fromRow), asOf };
}

function fromRow(row: BalanceRow): WalletBalanceRecord {
  return {
    asset: row.asset,
    available: BigInt(row.available),
    held: BigInt(row.held),
    incoming: BigInt(row.incoming),
    onCards: BigInt(row.onCards),
    receivable: BigInt(row.receivable),
    lastMovementId: row.lastKey && movementId(row.lastKey),
  };
}
