import type { MerchantRecord } from './merchants.js';
import { narrowTo, readSorted } from './sorted-list.js';
import type { Tx } from './transaction.js';

/** A list of the console as its page asks for it. */
interface Asked {
  readonly filters: Readonly<Record<string, string>>;
  readonly sort: { readonly name: string; readonly descending: boolean };
  readonly after: string | null;
  readonly limit: number;
}

const MERCHANT_SORTS: Readonly<Record<string, string>> = { created: 'm.id', name: 'm.name' };

/** Merchants by creation or name; `q` is the beginning of a name. */
export async function listMerchantsForConsole(db: Tx, asked: Asked): Promise<MerchantRecord[]> {
  const select = 'select m.id, m.name, m.created_at as "createdAt" from sverka.merchant m';
  return readSorted<MerchantRecord>(
    db,
    { select, table: 'sverka.merchant', alias: 'm' },
    {
      page: { ...asked, by: MERCHANT_SORTS[asked.sort.name] ?? 'm.id', descending: asked.sort.descending },
      narrow(where) {
        const begin = asked.filters['q'];
        if (begin !== undefined) where.add((p) => `starts_with(lower(m.name), lower(${p(begin)}))`);
      },
    },
  );
}

/** A person as an admin sees it. */
export interface UserListing {
  readonly id: string;
  readonly login: string;
  readonly roles: readonly string[];
  /** Of a merchant's requester. */
  readonly merchantId: string | null;
  readonly merchantName: string | null;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
}

const USER_SORTS: Readonly<Record<string, string>> = { created: 'u.id', login: 'u.login' };
const USER_SELECT = `select u.id, u.login, u.roles, u.merchant_id as "merchantId", m.name as "merchantName",
    u.created_at as "createdAt", u.disabled_at as "disabledAt"
  from sverka."user" u left join sverka.merchant m on m.id = u.merchant_id`;

/** Everybody who can sign in, disabled ones too. */
export async function listUsersForConsole(db: Tx, asked: Asked): Promise<UserListing[]> {
  return readSorted<UserListing>(
    db,
    { select: USER_SELECT, table: 'sverka."user"', alias: 'u' },
    {
      page: { ...asked, by: USER_SORTS[asked.sort.name] ?? 'u.id', descending: asked.sort.descending },
      narrow(where) {
        narrowTo(where, 'u.login', asked.filters['q']);
        narrowTo(where, 'u.merchant_id', asked.filters['merchant']);
        const role = asked.filters['role'];
        if (role !== undefined) where.add((p) => `${p(role)} = any (u.roles)`);
        const { state } = asked.filters;
        if (state !== undefined) where.add(() => `u.disabled_at is ${state === 'disabled' ? 'not null' : 'null'}`);
      },
    },
  );
}

export async function findUserListing(db: Tx, id: string): Promise<UserListing | null> {
  return (await db.query<UserListing>(`${USER_SELECT} where u.id = $1`, [id]))[0] ?? null;
}
