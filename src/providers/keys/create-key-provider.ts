import { AWS_KMS_PREFIX, KeyError, type KeyProvider, VAULT_PREFIX } from './key-provider.js';
import { createKeyring } from './keyring.js';

/** Where private key-encryption keys are: any of the three, or several while data moves from one to another. */
export interface KeySettings {
  readonly keyringFile: string | undefined;
  readonly awsKms: { readonly keys: readonly string[]; readonly endpoint: string | undefined } | null;
  readonly vault: {
    readonly url: string;
    readonly token: string;
    readonly mount: string;
    readonly key: string;
  } | null;
  readonly timeoutMs: number;
}

/** One provider of all that is configured; a key's id says whose it is. Nothing is loaded or read before a call. */
export function createKeyProvider({ keyringFile, awsKms, vault, timeoutMs }: KeySettings): KeyProvider {
  const sources = {
    vault:
      vault &&
      loadedWhenAsked(async () => (await import('./vault-transit.js')).createVaultTransit({ ...vault, timeoutMs })),
    awsKms:
      awsKms && loadedWhenAsked(async () => (await import('./aws-kms.js')).createAwsKms({ ...awsKms, timeoutMs })),
    keyring: keyringFile ? createKeyring(keyringFile) : null,
  };
  const configured = Object.values(sources).filter((source) => source !== null);
  const sourceOf = (keyId: string) => {
    if (keyId.startsWith(AWS_KMS_PREFIX)) return sources.awsKms;
    return keyId.startsWith(VAULT_PREFIX) ? sources.vault : sources.keyring;
  };
  return {
    async unwrap(keyId, wrapped) {
      const source = sourceOf(keyId);
      if (!source) {
        const settings = 'SVERKA_KEYRING_FILE, SVERKA_AWS_KMS_KEYS or the three SVERKA_VAULT_ settings';
        throw new KeyError('unknown_key', `Where key ${keyId} is kept is not configured: set ${settings}.`);
      }
      return source.unwrap(keyId, wrapped);
    },
    async publicKeys() {
      return (await Promise.all(configured.map((source) => source.publicKeys()))).flat();
    },
    async close() {
      await Promise.all(configured.map((source) => source.close()));
    },
  };
}

/** What only some need is code that only they load. */
function loadedWhenAsked(load: () => Promise<KeyProvider>): KeyProvider {
  let loading: Promise<KeyProvider> | null = null;
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    unwrap: async (keyId, wrapped) => (await loaded()).unwrap(keyId, wrapped),
    publicKeys: async () => (await loaded()).publicKeys(),
    close: async () => (await loading)?.close(),
  };
}
