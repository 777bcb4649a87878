import type { KeyObject } from 'node:crypto';

/** The public half of a key-encryption key: whoever has it can seal, and opens nothing. */
export interface PublicKey {
  readonly keyId: string;
  readonly key: KeyObject;
}

/** The key that seals from now on. Throws `KeyError` when there is none to be had. */
export type PublicKeySource = () => PublicKey;

/** Who holds private key-encryption keys: a file of ours, or a service that never gives them away. */
export interface KeyProvider {
  /**
   * The data key (32 bytes) that was wrapped, by RSA-OAEP with SHA-256, to the public key of that id. Throws
   * `KeyError`: `unknown_key`, `refused`, `not_opened` stay as they are until a person acts; `unavailable` may pass.
   */
  unwrap(keyId: string, wrapped: Uint8Array): Promise<Buffer>;
  /** Every public key that it knows, the one to seal with from now on first. */
  publicKeys(): Promise<PublicKey[]>;
  close(): Promise<void>;
}

/** How the ids begin of keys that a service keeps; any other id is a key of the keyring file. */
export const AWS_KMS_PREFIX = 'aws-kms:';
export const VAULT_PREFIX = 'vault:';

export const KEY_ERROR_KINDS = ['unknown_key', 'refused', 'unreadable', 'not_opened', 'unavailable'] as const;
export type KeyErrorKind = (typeof KEY_ERROR_KINDS)[number];

/** What stands between us and a key or a sealed value. Its text names keys by id and files by path, never content. */
export class KeyError extends Error {
  readonly kind: KeyErrorKind;

  constructor(kind: KeyErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'KeyError';
    this.kind = kind;
  }
}
