import type { KeySettings } from './create-key-provider.js';

/** The settings that say where private keys are, as the environment or the configuration holds them. */
type Settings = {
  readonly [Name in
    | 'SVERKA_KEYRING_FILE'
    | 'SVERKA_AWS_KMS_KEYS'
    | 'SVERKA_AWS_KMS_ENDPOINT'
    | 'SVERKA_VAULT_URL'
    | 'SVERKA_VAULT_TOKEN'
    | 'SVERKA_VAULT_KEY'
    | 'SVERKA_VAULT_MOUNT']?: string | undefined;
};

const VAULT_MOUNT = 'transit';

/** What of the settings says where keys are. A part of Vault's three is none: the configuration refuses it by name. */
export function keySettings(settings: Settings, timeoutMs: number): KeySettings {
  const { SVERKA_VAULT_URL: url, SVERKA_VAULT_TOKEN: token, SVERKA_VAULT_KEY: key } = settings;
  const kmsKeys = (settings.SVERKA_AWS_KMS_KEYS ?? '').split(',').filter((each) => each !== '');
  return {
    keyringFile: settings.SVERKA_KEYRING_FILE,
    awsKms: kmsKeys.length > 0 ? { keys: kmsKeys, endpoint: settings.SVERKA_AWS_KMS_ENDPOINT } : null,
    vault: url && token && key ? { url, token, key, mount: settings.SVERKA_VAULT_MOUNT || VAULT_MOUNT } : null,
    timeoutMs,
  };
}
