import { providerAccountName } from '../contracts/ids.js';
import type { Author } from '../db/author.js';
import { assignBalanceSource } from '../db/balance-mirror.js';
import { findCardFee, setCardFee } from '../db/card-fees.js';
import { createLoginLink } from '../db/login-links.js';
import { createApiKey, createMerchant, listApiKeys, listMerchants, revokeApiKey } from '../db/merchants.js';
import { createPool } from '../db/pool.js';
import { queriesOf, type Tx } from '../db/transaction.js';
import { createUser, findUser } from '../db/users.js';
import { listWithdrawalOffers, setWithdrawalOffer, setWithdrawalPolicy } from '../db/withdrawal-book.js';
import { BOOKS } from '../domain/books.js';
import { CARD_PRODUCTS } from '../domain/card.js';
import type { RunMerchant, RunSource } from './run-file.js';

/** What a local run begins with. */
export interface Seeded {
  readonly merchants: readonly RunMerchant[];
  readonly sources: readonly RunSource[];
  /** `token` of a one-time link, of which the database keeps only the hash. */
  readonly people: readonly SeededPerson[];
}

export interface SeededPerson {
  readonly login: string;
  /** As `run.json` names it. */
  readonly role: string;
  readonly at: 'console' | 'cabinet';
  readonly token: string;
}

/** The merchants of a local run: two live ones and one for tests. */
const DEMO = [
  { name: 'Nordwind', book: 'live' },
  { name: 'Ostwind', book: 'live' },
  { name: 'Probewind', book: 'test' },
] as const;
const LOOK_AT = 100;
/** Who made what is there before anybody came. */
const SEED: Author = { actor: 'local-run', traceId: null };

/** The people of a local run: requesters of the first live and of the test merchant, and people of ours. */
const PEOPLE: readonly { readonly login: string; readonly role: string; readonly merchant: string | null }[] = [
  { login: 'requester', role: 'requester', merchant: DEMO[0].name },
  { login: 'requester-test', role: 'requester', merchant: DEMO[2].name },
  { login: 'operator', role: 'operator', merchant: null },
  { login: 'approver', role: 'approver', merchant: null },
  { login: 'approver2', role: 'approver', merchant: null },
  { login: 'admin', role: 'admin', merchant: null },
  { login: 'auditor', role: 'auditor', merchant: null },
];

/** What making a card costs in a local run, unless somebody has set another fee: 1.00 USD, in cents. */
const CARD_FEE = { asset: 'USD', amount: 100n } as const;

/** What can be withdrawn in a local run, unless somebody has set other terms; minor units. */
const OFFERS = [
  { network: 'tron', asset: 'USDT-TRC20', fee: 1_000_000n, smallest: 2_000_000n, twoApprovalsFrom: 1_000_000_000n },
  { network: 'ethereum', asset: 'USDC-ETH', fee: 2_000_000n, smallest: 5_000_000n, twoApprovalsFrom: 1_000_000_000n },
  { network: 'bank', asset: 'USD', fee: 500n, smallest: 1_000n, twoApprovalsFrom: 100_000n },
] as const;
/** A person who tries it does not wait for a day. */
const POLICY = { coolingOffMs: 3_000, expiresAfterMs: 3 * 86_400_000 } as const;

/** Makes the demo merchants and people where they are missing; keys and login links belong to this run alone. */
export async function seed(databaseUrl: string): Promise<Seeded> {
  const pool = createPool(databaseUrl, { max: 1, applicationName: 'sverka-seed' });
  try {
    const db = queriesOf(pool);
    await seedFees(db);
    await seedOffers(db);
    const merchants = await seedMerchants(db);
    return { merchants, sources: await seedSources(db, merchants), people: await seedPeople(db, merchants) };
  } finally {
    await pool.end();
  }
}

async function seedMerchants(db: Tx): Promise<RunMerchant[]> {
  const known = await listMerchants(db, { limit: LOOK_AT, after: null });
  const merchants: RunMerchant[] = [];
  for (const { name, book } of DEMO) {
    const id = known.find((merchant) => merchant.name === name)?.id ?? (await createMerchant(db, name, SEED));
    await revokeAll(db, id);
    const full = await createApiKey(db, { merchantId: id, book, access: 'full' }, SEED);
    const readOnly = await createApiKey(db, { merchantId: id, book, access: 'read_only' }, SEED);
    merchants.push({ id, book, apiKey: full.secret, readOnlyKey: readOnly.secret });
  }
  return merchants;
}

/** The first merchant of each book has the account there whose balances are mirrored. */
async function seedSources(db: Tx, merchants: readonly RunMerchant[]): Promise<RunSource[]> {
  const sources: RunSource[] = [];
  for (const book of BOOKS) {
    const owner = merchants.find((merchant) => merchant.book === book);
    if (!owner) continue;
    const source = { provider: 'pert', source: providerAccountName('pert', book), book, merchantId: owner.id } as const;
    await assignBalanceSource(db, { ...source, account: source.source }, SEED);
    sources.push(source);
  }
  return sources;
}

async function revokeAll(db: Tx, merchantId: string): Promise<void> {
  const keys = await listApiKeys(db, merchantId);
  for (const key of keys.filter(({ revokedAt }) => revokedAt === null)) await revokeApiKey(db, key.id, SEED);
}

async function seedPeople(db: Tx, merchants: readonly RunMerchant[]): Promise<SeededPerson[]> {
  const people: SeededPerson[] = [];
  for (const { login, role, merchant } of PEOPLE) {
    const merchantId =
      merchant === null ? null : (merchants[DEMO.findIndex(({ name }) => name === merchant)]?.id ?? null);
    if ((await findUser(db, login)) === null) await createUser(db, { login, roles: [role], merchantId }, SEED);
    const token = await createLoginLink(db, login, SEED);
    // Null: somebody has disabled this person, and that stays.
    if (token === null) continue;
    const named =
      merchantId === null ? { role, at: 'console' as const } : { role: `merchant ${role}`, at: 'cabinet' as const };
    people.push({ login, ...named, token });
  }
  return people;
}

async function seedFees(db: Tx): Promise<void> {
  for (const product of CARD_PRODUCTS) {
    const fee = { merchantId: null, product, asset: CARD_FEE.asset };
    if ((await findCardFee(db, fee)) === null) await setCardFee(db, { ...fee, ...CARD_FEE, setBy: SEED.actor });
  }
}

async function seedOffers(db: Tx): Promise<void> {
  for (const book of BOOKS) {
    if ((await listWithdrawalOffers(db, book)).length > 0) continue;
    await setWithdrawalPolicy(db, { ...POLICY, book }, SEED);
    for (const offer of OFFERS) {
      const routes = offer.network === 'bank' ? (['manual'] as const) : (['custody', 'manual'] as const);
      await setWithdrawalOffer(db, { ...offer, routes, book }, SEED);
    }
  }
}
