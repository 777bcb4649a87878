import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { EncryptionCodec } from './encryption-codec.js';
import { readPayloadKeys } from './payload-keys.js';

/** Bundled with the workflows by src/local/workflow-bundle.ts, and loaded by `require` beside them. */
const FAILURE_CONVERTER = fileURLToPath(new URL('../workflows/failure-converter.cjs', import.meta.url));

/**
 * How payloads become bytes: the one place that says it, for clients, workers, replays and the command line. With a
 * file of keys what is sent is encrypted, messages and stacks of failures too; with none, or a `current` of null, it is
 * in clear. Throws what is wrong with the file.
 */
export function createDataConverter(of: { readonly SVERKA_PAYLOAD_KEYS_FILE?: string | undefined }): DataConverter {
  const file = of.SVERKA_PAYLOAD_KEYS_FILE;
  const keys = file === undefined ? null : readPayloadKeys(file);
  const payloadCodecs = [new EncryptionCodec(keys)];
  if (keys === null || keys.current === null) return { payloadCodecs };
  return { payloadCodecs, failureConverterPath: FAILURE_CONVERTER };
}

/** True when what this converter sends is encrypted. */
export function encrypts(converter: DataConverter): boolean {
  return converter.failureConverterPath !== undefined;
}
