import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import proto from '@temporalio/proto';
import { PAYLOAD_KEY_ID, type PayloadKeys } from './payload-keys.js';

/** As the encryption samples of Temporal's SDKs name it; the subject is ours. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
/** Which workflow a payload was made for; in clear, as workflow ids always are. */
const SUBJECT = 'encryption-subject';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A payload that cannot be opened as we are configured. The message says what to do and quotes nothing of the payload;
 * the code is what our logs keep of it.
 */
export class PayloadNotOpened extends Error {
  readonly code: 'no_keys' | 'unknown_key' | 'wrong_key_or_changed' | 'moved';

  constructor(code: PayloadNotOpened['code'], message: string) {
    super(message);
    this.name = 'PayloadNotOpened';
    this.code = code;
  }
}

/**
 * Encrypts each payload as a whole with AES-256-GCM: nonce, ciphertext, tag. The id of the key and the workflow it was
 * made for stand beside it and are authenticated, so that neither can be exchanged, nor a payload be moved to another
 * workflow. A payload that is not encrypted is decoded as it stands: encryption can be switched on while work goes on.
 * Without keys (null) nothing is encrypted, and what is encrypted is refused by an error that names the setting.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #keys: PayloadKeys | null;

  constructor(keys: PayloadKeys | null) {
    this.#keys = keys;
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const id = this.#keys?.current ?? null;
    const key = id === null ? undefined : this.#keys?.keys.get(id);
    if (id === null || key === undefined) return payloads;
    return payloads.map((payload) => seal(payload, { id, key, subject: subjectOf(context) }));
  }

  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) =>
      textOf(payload, 'encoding') === ENCRYPTED ? open(payload, this.#keys, subjectOf(context)) : payload,
    );
  }
}

/** Id of the key that a payload is encrypted with; '' for one in clear or none. */
export function keyIdOf(payload: Payload | null | undefined): string {
  return payload && textOf(payload, 'encoding') === ENCRYPTED ? textOf(payload, KEY_ID) : '';
}

function seal(payload: Payload, by: { id: string; key: Uint8Array; subject: string }): Payload {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, by.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(by.id, by.subject));
  const inside = cipher.update(proto.temporal.api.common.v1.Payload.encode(payload).finish());
  const data = Buffer.concat([nonce, inside, cipher.final(), cipher.getAuthTag()]);
  const metadata = { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(by.id) };
  return { metadata: by.subject === '' ? metadata : { ...metadata, [SUBJECT]: Buffer.from(by.subject) }, data };
}

function open(payload: Payload, keys: PayloadKeys | null, found: string): Payload {
  const id = textOf(payload, KEY_ID);
  const subject = textOf(payload, SUBJECT);
  const key = keyOf(id, keys);
  const data = payload.data ?? new Uint8Array();
  if (data.length < NONCE_BYTES + TAG_BYTES) throw damaged(id);
  const decipher = createDecipheriv(CIPHER, key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(authenticated(id, subject));
  decipher.setAuthTag(data.subarray(data.length - TAG_BYTES));
  let inside: Uint8Array;
  try {
    inside = Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, data.length - TAG_BYTES)), decipher.final()]);
  } catch {
    // OpenSSL says no more than that it does not fit.
    throw damaged(id);
  }
  // Only now: before, nothing said whose it is.
  if (subject !== '' && found !== '' && subject !== found) throw moved(subject, found);
  return proto.temporal.api.common.v1.Payload.decode(inside);
}

function keyOf(id: string, keys: PayloadKeys | null): Uint8Array {
  const named = PAYLOAD_KEY_ID.test(id) ? `key ${id}` : 'a key whose id is not one of ours';
  if (keys === null) {
    throw new PayloadNotOpened(
      'no_keys',
      `This payload is encrypted with ${named}, and this process has no keys: ` +
        'set SVERKA_PAYLOAD_KEYS_FILE to the file that holds it.',
    );
  }
  const key = keys.keys.get(id);
  if (key !== undefined) return key;
  throw new PayloadNotOpened(
    'unknown_key',
    `This payload is encrypted with ${named}, and SVERKA_PAYLOAD_KEYS_FILE holds only ` +
      `${[...keys.keys.keys()].join(', ')}: put it back there. An old key is kept as long as the histories are.`,
  );
}

function damaged(id: string): PayloadNotOpened {
  return new PayloadNotOpened(
    'wrong_key_or_changed',
    `This payload does not open with key ${id} of SVERKA_PAYLOAD_KEYS_FILE: either another key was put under that id ` +
      '(restore the one that encrypted it, and give the other an id of its own), or the payload was changed.',
  );
}

function moved(subject: string, found: string): PayloadNotOpened {
  return new PayloadNotOpened(
    'moved',
    `This payload was made for the workflow ${subject} and stands in ${found}: somebody put it there. ` +
      'Find out who can write to Temporal, and terminate that run.',
  );
}

/** What is authenticated beside the ciphertext; each part with its length, so that none runs into the next. */
function authenticated(...parts: readonly string[]): Buffer {
  return Buffer.from([ENCRYPTED, ...parts].map((part) => `${Buffer.byteLength(part)}:${part}`).join(''));
}

/** A run of a schedule is the schedule's workflow: its arguments were encrypted before the run had its id. */
const RUN_OF_SCHEDULE = /-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/;

/**
 * The workflow that the SDK says a payload belongs to, or ''. Neither the namespace (a replay names another) nor the
 * activity (the server gives out its id) is bound; the codec endpoint is told neither.
 */
function subjectOf(context: SerializationContext | undefined): string {
  return context?.workflowId?.replace(RUN_OF_SCHEDULE, '') ?? '';
}

function textOf({ metadata }: Payload, name: string): string {
  const value = metadata?.[name];
  return value === undefined || value === null ? '' : Buffer.from(value).toString('utf8');
}
