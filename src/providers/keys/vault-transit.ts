import { createPublicKey } from 'node:crypto';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { KeyError, type KeyErrorKind, type KeyProvider, VAULT_PREFIX } from './key-provider.js';

export interface VaultOptions {
  /** Where Vault listens, without a path. */
  readonly url: string;
  readonly token: string;
  /** Where the transit engine is mounted. */
  readonly mount: string;
  /** Name of an RSA key there (`rsa-3072` or `rsa-4096`). */
  readonly key: string;
  readonly timeoutMs: number;
}

const keysSchema = z.object({
  data: z.object({ keys: z.record(z.string().regex(/^[1-9][0-9]*$/), z.object({ public_key: z.string() })) }),
});
const plaintextSchema = z.object({ data: z.object({ plaintext: z.base64() }) });

/**
 * Private keys in the transit engine of HashiCorp Vault (or OpenBao), which unwraps for us: key ids are
 * `vault:<key>:<version>`. Its RSA keys use OAEP with SHA-256.
 */
export function createVaultTransit(options: VaultOptions): KeyProvider {
  const agent = new Agent({ headersTimeout: options.timeoutMs, bodyTimeout: options.timeoutMs });
  const at = (verb: string) => `/v1/${options.mount}/${verb}/${encodeURIComponent(options.key)}`;
  return {
    async unwrap(keyId, wrapped) {
      const [, key, version] = /^vault:(.+):([1-9][0-9]*)$/.exec(keyId) ?? [];
      if (key !== options.key) {
        throw new KeyError('unknown_key', `${keyId} is no version of the key ${options.key} that Vault is asked for.`);
      }
      const ciphertext = `vault:v${version}:${Buffer.from(wrapped).toString('base64')}`;
      const body = await call(agent, options, { method: 'POST', path: at('decrypt'), body: { ciphertext } });
      return Buffer.from(parse(plaintextSchema, body).data.plaintext, 'base64');
    },
    async publicKeys() {
      const { data } = parse(keysSchema, await call(agent, options, { method: 'GET', path: at('keys') }));
      const newestFirst = Object.entries(data.keys).sort(([a], [b]) => Number(b) - Number(a));
      return newestFirst.map(([version, { public_key: pem }]) => ({
        keyId: `${VAULT_PREFIX}${options.key}:${version}`,
        key: createPublicKey(pem),
      }));
    },
    close: () => agent.close(),
  };
}

async function call(
  agent: Agent,
  { url, token, timeoutMs }: VaultOptions,
  { method, path, body }: { method: 'GET' | 'POST'; path: string; body?: object },
): Promise<unknown> {
  const sent = request(`${url.replace(/\/+$/, '')}${path}`, {
    method,
    dispatcher: agent,
    signal: AbortSignal.timeout(timeoutMs),
    headers: { 'x-vault-token': token, 'x-vault-request': 'true', 'content-type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  });
  const response = await sent.catch((error: unknown) => {
    throw new KeyError('unavailable', `Vault did not answer ${method} ${path}.`, { cause: error });
  });
  const text = await response.body.text().catch((error: unknown) => {
    throw new KeyError('unavailable', `The answer of Vault to ${method} ${path} was cut.`, { cause: error });
  });
  if (response.statusCode === 200) return jsonOf(text);
  // Its text is not repeated: it may name what it was asked to open.
  throw new KeyError(kindOf(response.statusCode), `Vault answered ${response.statusCode} to ${method} ${path}.`);
}

function kindOf(status: number): KeyErrorKind {
  if (status === 400) return 'not_opened';
  if (status === 403) return 'refused';
  return status === 404 ? 'unknown_key' : 'unavailable';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What the schema refuses is named below.
    return undefined;
  }
}

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new KeyError('unavailable', 'Vault answered something else than its transit engine does.');
}
