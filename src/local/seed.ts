import { createApiKey, createMerchant, listApiKeys, listMerchants, revokeApiKey } from '../db/merchants.js';
import { createPool } from '../db/pool.js';
import { queriesOf, type Tx } from '../db/transaction.js';
import type { RunMerchant } from './run-file.js';

/** The merchants of a local run: two live ones and one for tests. */
const DEMO = [
  { name: 'Nordwind', book: 'live' },
  { name: 'Ostwind', book: 'live' },
  { name: 'Probewind', book: 'test' },
] as const;
const LOOK_AT = 100;

/** Makes the demo merchants where they are missing, with keys that belong to this run alone: older ones are revoked. */
export async function seedMerchants(databaseUrl: string): Promise<RunMerchant[]> {
  const pool = createPool(databaseUrl, { max: 1, applicationName: 'sverka-seed' });
  try {
    const db = queriesOf(pool);
    const known = await listMerchants(db, { limit: LOOK_AT, after: null });
    const merchants: RunMerchant[] = [];
    for (const { name, book } of DEMO) {
      const id = known.find((merchant) => merchant.name === name)?.id ?? (await createMerchant(db, name));
      await revokeAll(db, id);
      const full = await createApiKey(db, { merchantId: id, book, access: 'full' });
      const readOnly = await createApiKey(db, { merchantId: id, book, access: 'read_only' });
      merchants.push({ id, book, apiKey: full.secret, readOnlyKey: readOnly.secret });
    }
    return merchants;
  } finally {
    await pool.end();
  }
}

async function revokeAll(db: Tx, merchantId: string): Promise<void> {
  const keys = await listApiKeys(db, merchantId);
  for (const key of keys.filter(({ revokedAt }) => revokedAt === null)) await revokeApiKey(db, key.id);
}
