import { z } from 'zod';
import { checkBody, readBytes, requireJson } from '../gateway/body.js';
import { Problem } from '../problem.js';

/** A payload as the codec takes it. */
interface CodecPayload {
  readonly metadata: Record<string, Uint8Array>;
  readonly data: Uint8Array;
}

/** A message of Temporal holds at most 4 MiB; in base64 it is a third more. */
export const CODEC_BODY_BYTES_MAX = 6 * 1024 * 1024;

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const bytes = z
  .string()
  .regex(BASE64, 'must be base64')
  .transform((text): Uint8Array => Buffer.from(text, 'base64'));
const payload = z.object({
  metadata: z.record(z.string(), bytes).nullish(),
  data: bytes.nullish(),
});
// What newer versions of the UI add is ignored, as the protocol says.
const bodySchema = z.object({ payloads: z.array(payload).default([]) });

/** Reads `{payloads: [{metadata, data}]}` in the JSON of protobuf; refuses anything else as the gateway does. */
export async function readPayloads(request: Request): Promise<CodecPayload[]> {
  requireJson(request.headers);
  const text = (await readBytes(request, CODEC_BODY_BYTES_MAX)).toString('utf8');
  const { payloads } = checkBody(bodySchema, parse(text));
  return payloads.map(({ metadata, data }) => ({ metadata: metadata ?? {}, data: data ?? new Uint8Array() }));
}

/** The same JSON of what the codec made of them. */
export function writePayloads(
  payloads: readonly {
    readonly metadata?: Readonly<Record<string, Uint8Array>> | null;
    readonly data?: Uint8Array | null;
  }[],
): string {
  const base64 = (of: Uint8Array) => Buffer.from(of).toString('base64');
  return JSON.stringify({
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, of]) => [name, base64(of)])),
      data: base64(data ?? new Uint8Array()),
    })),
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says would quote the body.
    throw new Problem('malformed_body', { detail: 'The body is not JSON.' });
  }
}
