import type { CardholderRecord } from '../contracts/cardholder.js';
import type { RequestInput } from '../contracts/messages.js';
import type { CardholderState, IdentityMember } from '../domain/cardholder.js';
import type { Scope } from './lists.js';
import type { Tx } from './transaction.js';

/** What stands in clear of a cardholder; alias `h`. */
export const CARDHOLDER_SELECT = `select h.id, h.book, h.merchant_id as "merchantId", h.revision,
    h.first_initial as "firstInitial", h.last_initial as "lastInitial", h.country, h.reference, h.state, h.version,
    h.created_at as "createdAt", h.updated_at as "updatedAt"
  from sverka.cardholder h`;

/** The merchant's own cardholder of that id, in that book. */
export async function findCardholder(db: Tx, of: Scope & { id: string }): Promise<CardholderRecord | null> {
  const rows = await db.query<CardholderRecord>(
    `${CARDHOLDER_SELECT} where h.id = $1 and h.book = $2 and h.merchant_id = $3`,
    [of.id, of.book, of.merchantId],
  );
  return rows[0] ?? null;
}

/** Members of an identity, sealed for one cardholder and revision, with the data key that sealed them. */
export interface SealedMembers {
  readonly keyId: string;
  readonly wrapped: Uint8Array;
  readonly members: readonly { readonly member: IdentityMember; readonly sealed: Uint8Array }[];
}

export interface NewCardholder extends Scope {
  readonly id: string;
  /** First letters of first and last name. */
  readonly initials: readonly [string, string];
  readonly country: string;
  readonly reference: string | null;
  /** Each member once, in the order of `IDENTITY_MEMBERS`. */
  readonly identity: SealedMembers;
  readonly request: RequestInput;
  readonly traceId: string;
}

/** Makes him, and keeps what the key leads to, at once. False when that key led somewhere before: nothing is made. */
export async function createCardholder(tx: Tx, cardholder: NewCardholder): Promise<boolean> {
  const { identity, request } = cardholder;
  const rows = await tx.query<{ made: boolean }>(
    `select sverka.create_cardholder($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
       decode($15, 'hex'), $16) as made`,
    [
      cardholder.id,
      cardholder.book,
      cardholder.merchantId,
      cardholder.initials,
      cardholder.country,
      cardholder.reference,
      identity.keyId,
      identity.wrapped,
      identity.members.map(({ member }) => member),
      identity.members.map(({ sealed }) => sealed),
      request.id,
      request.key,
      request.method,
      request.path,
      request.fingerprint,
      cardholder.traceId,
    ],
  );
  return rows[0]?.made === true;
}

export interface CardholderChange extends Scope {
  readonly id: string;
  /** The number that this change was sealed for. */
  readonly toRevision: number;
  /** Null for what stays. */
  readonly initials: readonly [string | null, string | null];
  readonly country: string | null;
  /** Undefined for what stays. */
  readonly reference: string | null | undefined;
  readonly identity: SealedMembers;
  /** Of the change, hex. */
  readonly fingerprint: string;
  readonly traceId: string;
}
export type CardholderRevised = 'revised' | 'unchanged' | 'stale' | 'erased' | 'not_found';

/** Makes the next revision; `stale` when another came between, then read him again and seal again. */
export async function reviseCardholder(tx: Tx, change: CardholderChange): Promise<CardholderRevised> {
  const { identity } = change;
  const rows = await tx.query<{ outcome: CardholderRevised }>(
    `select sverka.revise_cardholder($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, decode($13, 'hex'), $14)
       as outcome`,
    [
      change.id,
      change.book,
      change.merchantId,
      change.toRevision,
      change.initials,
      change.country,
      change.reference !== undefined,
      change.reference ?? null,
      identity.keyId,
      identity.wrapped,
      identity.members.map(({ member }) => member),
      identity.members.map(({ sealed }) => sealed),
      change.fingerprint,
      change.traceId,
    ],
  );
  if (!rows[0]) throw new Error('sverka.revise_cardholder answered nothing.');
  return rows[0].outcome;
}

/** Deletes the keys of his identity for ever. False when this merchant has no such cardholder. */
export async function eraseCardholder(tx: Tx, of: Scope & { id: string; traceId: string }): Promise<boolean> {
  const rows = await tx.query<{ found: boolean }>('select sverka.erase_cardholder($1, $2, $3, $4) as found', [
    of.id,
    of.book,
    of.merchantId,
    of.traceId,
  ]);
  return rows[0]?.found === true;
}

/** A member as it holds in a revision, with the key that sealed it; no key once erased. */
export interface SealedMember {
  readonly member: IdentityMember;
  /** The revision that gave it: the one asked for, or an earlier one. */
  readonly revision: number;
  readonly sealed: Buffer;
  readonly keyId: string | null;
  readonly wrapped: Buffer | null;
}

/** For the worker alone: the sealed identity of one revision. Throws for a cardholder or revision that never was. */
export async function readSealedIdentity(
  db: Tx,
  of: { id: string; revision: number },
): Promise<{ state: CardholderState; members: SealedMember[] }> {
  // One statement sees one moment: an erasure that commits meanwhile is seen in full or not at all.
  const rows = await db.query<SealedMember & { state: CardholderState }>(
    `select distinct on (m.member) h.state, m.member, m.revision, m.sealed, k.key_id as "keyId", k.wrapped
       from sverka.cardholder h
       join sverka.cardholder_member m on m.cardholder_id = h.id and m.revision <= $2
       left join sverka.cardholder_key k on k.cardholder_id = m.cardholder_id and k.revision = m.revision
      where h.id = $1 and h.revision >= $2
      order by m.member, m.revision desc`,
    [of.id, of.revision],
  );
  if (!rows[0]) throw new Error(`Cardholder ${of.id} has no revision ${of.revision}.`);
  return { state: rows[0].state, members: rows };
}
