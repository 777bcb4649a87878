import { constants, generateKeyPairSync, type KeyObject, privateDecrypt } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startTestServer, type TestServer } from './simulated-custody.js';

/** A service that keeps keys, as its wire is: no cloud and no Vault is needed to speak to it. */
export interface KeyService {
  readonly url: string;
  /** What it was asked, without bodies. */
  readonly asked: string[];
  /** Answers this instead, once. */
  failNext(status: number, body: object): void;
  /** Makes one more key, or version of the key. */
  rotate(): void;
  close(): Promise<void>;
}

type Answer = { readonly status: number; readonly body: object };

export const VAULT_TOKEN = 'token-that-no-message-may-hold';

/** The transit engine of Vault at `transit`, with an RSA key `identities`. */
export function startVault(): Promise<KeyService> {
  const versions = [pair()];
  return start({
    rotate: () => void versions.push(pair()),
    answer(request, body) {
      if (request.headers['x-vault-token'] !== VAULT_TOKEN)
        return { status: 403, body: { errors: ['permission denied'] } };
      if (request.method === 'GET' && request.url === '/v1/transit/keys/identities') {
        const keys = versions.map(({ publicKey }, at) => [
          String(at + 1),
          { public_key: pem(publicKey), name: 'rsa-2048' },
        ]);
        const data = { type: 'rsa-2048', latest_version: versions.length, keys: Object.fromEntries(keys) };
        return { status: 200, body: { data } };
      }
      if (request.method !== 'POST' || request.url !== '/v1/transit/decrypt/identities') {
        return { status: 404, body: { errors: [] } };
      }
      const [, version, text] = /^vault:v([0-9]+):(.*)$/.exec(String(body['ciphertext'])) ?? [];
      const opened = decrypt(versions[Number(version) - 1], Buffer.from(text ?? '', 'base64'));
      if (opened === null) return { status: 400, body: { errors: ['invalid ciphertext: unable to decrypt'] } };
      return { status: 200, body: { data: { plaintext: opened.toString('base64') } } };
    },
  });
}

/** KMS with RSA keys `key-1`, `key-2` and so on, of the region `eu-central-1`. */
export function startKms(): Promise<KeyService> {
  const pairs = [pair()];
  const refused = (type: string, message: string): Answer => ({ status: 400, body: { __type: type, message } });
  return start({
    rotate: () => void pairs.push(pair()),
    answer(request, body) {
      const signed = /^AWS4-HMAC-SHA256 Credential=test-key\/[0-9]{8}\/eu-central-1\/kms\/aws4_request, /;
      if (!signed.test(request.headers.authorization ?? '')) return refused('UnrecognizedClientException', 'unsigned');
      const keyId = String(body['KeyId']);
      const found = pairs[Number(/^key-([0-9]+)$/.exec(keyId)?.[1]) - 1];
      if (!found) return refused('NotFoundException', `no ${keyId}`);
      const target = request.headers['x-amz-target'];
      if (target === 'TrentService.GetPublicKey') {
        const key = found.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
        return { status: 200, body: { KeyId: keyId, PublicKey: key, EncryptionAlgorithms: ['RSAES_OAEP_SHA_256'] } };
      }
      if (target !== 'TrentService.Decrypt' || body['EncryptionAlgorithm'] !== 'RSAES_OAEP_SHA_256') {
        return refused('ValidationException', 'not for this server');
      }
      const opened = decrypt(found, Buffer.from(String(body['CiphertextBlob']), 'base64'));
      if (opened === null) return refused('InvalidCiphertextException', 'does not open');
      return { status: 200, body: { KeyId: keyId, Plaintext: opened.toString('base64') } };
    },
  });
}

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

async function start(service: {
  rotate: () => void;
  answer: (request: IncomingMessage, body: Record<string, unknown>) => Answer;
}): Promise<KeyService> {
  const asked: string[] = [];
  const failures: Answer[] = [];
  const server: TestServer = await startTestServer((request, response, bytes) => {
    asked.push(`${request.method} ${String(request.headers['x-amz-target'] ?? request.url)}`);
    const body = bytes.length === 0 ? {} : (JSON.parse(bytes.toString('utf8')) as Record<string, unknown>);
    send(response, failures.shift() ?? service.answer(request, body));
  });
  return {
    url: server.url,
    asked,
    failNext: (status, body) => void failures.push({ status, body }),
    rotate: service.rotate,
    close: () => server.close(),
  };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function pair(): Pair {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function decrypt(keys: Pair | undefined, ciphertext: Buffer): Buffer | null {
  try {
    const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    return keys ? privateDecrypt({ key: keys.privateKey, ...padding }, ciphertext) : null;
  } catch {
    // Answered as each service answers it.
    return null;
  }
}
