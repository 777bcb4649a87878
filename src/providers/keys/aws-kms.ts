import { createPublicKey } from 'node:crypto';
import type * as kms from '@aws-sdk/client-kms';
import { AWS_KMS_PREFIX, KeyError, type KeyErrorKind, type KeyProvider } from './key-provider.js';

export interface AwsKmsOptions {
  /** Ids or ARNs of RSA keys for ENCRYPT_DECRYPT, newest first: the first one seals from now on. */
  readonly keys: readonly string[];
  /** Instead of the region's own address: a VPC endpoint, or a test's server. */
  readonly endpoint?: string | undefined;
  readonly timeoutMs: number;
}

const ALGORITHM = 'RSAES_OAEP_SHA_256';

/**
 * Private keys in AWS KMS, which unwraps for us: key ids are `aws-kms:<id or ARN>`. Credentials and region are found as
 * AWS's SDK finds them. The SDK is loaded with the first call, and only has to be installed where this is configured.
 */
export function createAwsKms({ keys, endpoint, timeoutMs }: AwsKmsOptions): KeyProvider {
  let connecting: Promise<Connected> | null = null;
  const connected = () => {
    connecting ??= connect(endpoint, timeoutMs);
    return connecting;
  };
  return {
    async unwrap(keyId, wrapped) {
      const KeyId = keyId.slice(AWS_KMS_PREFIX.length);
      if (!keys.includes(KeyId)) {
        throw new KeyError('unknown_key', `${keyId} is not among SVERKA_AWS_KMS_KEYS: keep the old keys there, too.`);
      }
      const { sdk, client } = await connected();
      const input = { KeyId, CiphertextBlob: wrapped, EncryptionAlgorithm: ALGORITHM } as const;
      const { Plaintext } = await client.send(new sdk.DecryptCommand(input)).catch(failed('Decrypt'));
      if (!Plaintext) throw new KeyError('unavailable', 'AWS KMS answered Decrypt without a plaintext.');
      return Buffer.from(Plaintext);
    },
    async publicKeys() {
      const { sdk, client } = await connected();
      return Promise.all(
        keys.map(async (KeyId) => {
          const { PublicKey } = await client.send(new sdk.GetPublicKeyCommand({ KeyId })).catch(failed('GetPublicKey'));
          if (!PublicKey) throw new KeyError('unavailable', 'AWS KMS answered GetPublicKey without a key.');
          const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
          return { keyId: `${AWS_KMS_PREFIX}${KeyId}`, key };
        }),
      );
    },
    async close() {
      // An SDK that could not be loaded was told of by the call that asked for it.
      await connecting?.then(({ client }) => client.destroy()).catch(() => undefined);
    },
  };
}

interface Connected {
  readonly sdk: typeof kms;
  readonly client: kms.KMSClient;
}

async function connect(endpoint: string | undefined, timeoutMs: number): Promise<Connected> {
  const sdk = await import('@aws-sdk/client-kms').catch((error: unknown) => {
    const next = '`npm install @aws-sdk/client-kms`, or unset SVERKA_AWS_KMS_KEYS';
    throw new KeyError('refused', `AWS KMS is configured and its SDK is not installed: ${next}.`, { cause: error });
  });
  // Retries are the caller's alone.
  const client = new sdk.KMSClient({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: timeoutMs, requestTimeout: timeoutMs },
    ...(endpoint && { endpoint }),
  });
  return { sdk, client };
}

const KINDS: Readonly<Record<string, KeyErrorKind>> = {
  InvalidCiphertextException: 'not_opened',
  IncorrectKeyException: 'not_opened',
  NotFoundException: 'unknown_key',
  AccessDeniedException: 'refused',
  UnrecognizedClientException: 'refused',
  CredentialsProviderError: 'refused',
  DisabledException: 'refused',
  InvalidKeyUsageException: 'refused',
  KMSInvalidStateException: 'refused',
};

/** Only the class of its error: the text can name accounts. */
function failed(operation: string): (error: unknown) => never {
  return (error) => {
    const name = error instanceof Error ? error.name : 'unknown';
    const kind = KINDS[name] ?? 'unavailable';
    throw new KeyError(kind, `AWS KMS did not do ${operation} (${name}).`, { cause: error });
  };
}
