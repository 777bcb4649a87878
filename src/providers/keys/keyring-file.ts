import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { KeyError } from './key-provider.js';
import { readKeyFile } from './read-key-file.js';

/** 3072 bits: what NIST takes for as strong as AES-128, for data that outlives 2030. */
const MODULUS_BITS = 3_072;
const ID = /^[A-Za-z0-9._:/-]{1,200}$/;

const keySchema = z.object({ id: z.string().regex(ID), createdAt: z.string(), privateKey: z.string() });
const keyringSchema = z.object({ version: z.literal(1), current: z.string(), keys: z.array(keySchema).min(1) });
const publicSchema = z.object({
  version: z.literal(1),
  current: z.string(),
  keys: z.array(z.object({ id: z.string().regex(ID), publicKey: z.string() })).min(1),
});
/** Private keys, newest first; `current` is the id of the one whose public half seals. */
export type Keyring = z.infer<typeof keyringSchema>;
/** The same without anything secret. */
export type PublicKeys = z.infer<typeof publicSchema>;

/** Where the private keys lie, and where what only seals finds their public halves. */
export interface KeyringPlaces {
  readonly keyring: string;
  readonly publicKeys: string;
}

/** Makes the keyring with a first key where there is none, and the public keys from it. What is there stays. */
export function ensureKeyring(places: KeyringPlaces): void {
  if (existsSync(places.keyring)) {
    writePublicKeys(places.publicKeys, toPublicKeys(readKeyring(places.keyring)));
    return;
  }
  locked(places.keyring, () => {
    if (existsSync(places.keyring)) return;
    const key = newKey();
    store(places, { version: 1, current: key.id, keys: [key] });
  });
}

/** Adds a key and makes it the current one; the others stay and still open. Answers the new keyring. */
export function rotateKeyring(places: KeyringPlaces): Keyring {
  return locked(places.keyring, () => {
    const before = readKeyring(places.keyring);
    const key = newKey();
    const after = { ...before, current: key.id, keys: [key, ...before.keys] };
    store(places, after);
    return after;
  });
}

/** Reads the private keys. Throws `KeyError` for a file that is missing, damaged, or open to others than its owner. */
export function readKeyring(file: string): Keyring {
  return readKeyFile(file, { schema: keyringSchema, isSecret: true });
}

/** Reads the public keys. Throws `KeyError` for a file that is missing or damaged. */
export function readPublicKeys(file: string): PublicKeys {
  return readKeyFile(file, { schema: publicSchema, isSecret: false });
}

/** Replaces the file of public keys at once: who reads it finds the old one or the new one. */
export function writePublicKeys(file: string, keys: PublicKeys): void {
  replaceFile(file, { content: keys, mode: 0o644 });
}

function toPublicKeys({ current, keys }: Keyring): PublicKeys {
  const publicHalf = (pem: string) => createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' });
  return {
    version: 1,
    current,
    keys: keys.map(({ id, privateKey }) => ({ id, publicKey: publicHalf(privateKey).toString() })),
  };
}

function newKey(): Keyring['keys'][number] {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: MODULUS_BITS });
  return {
    id: `local-${randomBytes(6).toString('hex')}`,
    createdAt: new Date().toISOString(),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** The private keys first: nobody may seal with a key that nobody keeps. */
function store(places: KeyringPlaces, keyring: Keyring): void {
  replaceFile(places.keyring, { content: keyring, mode: 0o600 });
  writePublicKeys(places.publicKeys, toPublicKeys(keyring));
}

/** Two rotations at once would lose a key, and with it all that it sealed: the second is refused. */
function locked<T>(keyring: string, work: () => T): T {
  const lock = `${keyring}.lock`;
  mkdirSync(dirname(keyring), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(lock, 'wx', 0o600));
  } catch (error) {
    const next = `When nobody is at it (a rotation was killed), remove ${lock} and try again.`;
    throw new KeyError('refused', `Another rotation of ${keyring} is at work. ${next}`, { cause: error });
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Written, on the disk, then renamed: a key that is lost takes everything with it that it sealed. */
function replaceFile(file: string, { content, mode }: { content: object; mode: number }): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}`;
  const descriptor = openSync(partial, 'w', mode);
  try {
    writeFileSync(descriptor, `${JSON.stringify(content, null, 1)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(partial, file);
  const folder = openSync(dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}
