import { identityPlace } from '../contracts/cardholder.js';
import { readSealedIdentity, type SealedMember } from '../db/cardholders.js';
import type { Tx } from '../db/transaction.js';
import { IDENTITY_MEMBERS, type IdentityMember } from '../domain/cardholder.js';
import { openDataKey } from '../providers/keys/data-key.js';
import { KeyError, type KeyProvider } from '../providers/keys/key-provider.js';

/** Who a person is: for the issuing request alone; never logged, stored, returned by an activity or put in an error. */
export interface CardholderIdentity {
  readonly firstName: string;
  readonly lastName: string;
  /** `1990-02-28`. */
  readonly birthDate: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly document: string;
}

/**
 * Opens the identity as one revision gave it; null when the cardholder is erased. Throws `KeyError` when a key is not
 * to be had, or when what is stored was moved or damaged.
 */
export async function readCardholderIdentity(
  db: Tx,
  keys: Pick<KeyProvider, 'unwrap'>,
  of: { readonly id: string; readonly revision: number },
): Promise<CardholderIdentity | null> {
  const { state, members } = await readSealedIdentity(db, of);
  if (state === 'erased') return null;
  const opened = await openMembers(keys, of.id, members);
  const text = (member: IdentityMember) => {
    const value = opened.get(member);
    if (value === undefined) throw new KeyError('not_opened', `Cardholder ${of.id} has no sealed ${member}.`);
    return value;
  };
  const [first_name, last_name, birth_date, country, document] = IDENTITY_MEMBERS;
  return {
    firstName: text(first_name),
    lastName: text(last_name),
    birthDate: text(birth_date),
    country: text(country),
    document: text(document),
  };
}

/** Each revision's key is unwrapped once, whoever keeps it. */
async function openMembers(
  keys: Pick<KeyProvider, 'unwrap'>,
  cardholderId: string,
  members: readonly SealedMember[],
): Promise<Map<IdentityMember, string>> {
  const dataKeys = new Map<number, ReturnType<typeof openDataKey>>();
  const opened = new Map<IdentityMember, string>();
  for (const { member, revision, sealed, keyId, wrapped } of members) {
    if (keyId === null || wrapped === null) {
      throw new KeyError('not_opened', `The key of revision ${revision} of cardholder ${cardholderId} is gone.`);
    }
    const dataKey = dataKeys.get(revision) ?? openDataKey(keys, { keyId, wrapped });
    dataKeys.set(revision, dataKey);
    const { open } = await dataKey;
    opened.set(member, open(sealed, identityPlace({ cardholderId, revision, member })).toString('utf8'));
  }
  return opened;
}
