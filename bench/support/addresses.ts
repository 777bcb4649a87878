import type pg from 'pg';
import { newId } from '../../src/db/new-id.js';
import { CUSTODY } from './settings.js';

/** An active address for deposits of a merchant. */
export interface BenchAddress {
  readonly merchantId: string;
  readonly address: string;
}

/**
 * So many merchants, each with one active address, as they stand after the custodian answered. `nameOf` gives the
 * address of each id; without it one is made up.
 */
export async function openAddresses(
  owner: pg.Pool,
  count: number,
  nameOf: (reference: string) => Promise<string> = async (reference) => `T${reference}`,
): Promise<BenchAddress[]> {
  const made: BenchAddress[] = [];
  for (let n = 0; n < count; n += 1) {
    const [merchantId, id] = [newId('merchant'), newId('depositAddress')];
    const address = await nameOf(id);
    await owner.query('select sverka.create_merchant($1, $2)', [merchantId, 'A merchant']);
    await owner.query(
      `insert into sverka.deposit_address (id, book, merchant_id, network, asset, settlement_mode, provider,
         provider_account, state, actor)
       values ($1, $2, $3, 'tron', 'USDT-TRC20', 'as_token', $4, $5, 'preparing', 'bench')`,
      [id, CUSTODY.book, merchantId, CUSTODY.provider, CUSTODY.account],
    );
    await owner.query(
      `update sverka.deposit_address set state = 'active', version = 2, actor = 'bench', address = $2, provider_ref = $1
       where id = $1`,
      [id, address],
    );
    made.push({ merchantId, address });
  }
  return made;
}
