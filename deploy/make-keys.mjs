// Makes the keys that seal identities where there are none: `node --import tsx deploy/make-keys.mjs`. Private ones into
// SVERKA_KEYRING_FILE, for the worker alone; public ones into SVERKA_PUBLIC_KEYS_FILE. What is there stays.
import { ensureKeyring } from '../src/providers/keys/keyring-file.ts';

const { SVERKA_KEYRING_FILE: keyring, SVERKA_PUBLIC_KEYS_FILE: publicKeys } = process.env;
if (!keyring || !publicKeys) throw new Error('Set SVERKA_KEYRING_FILE and SVERKA_PUBLIC_KEYS_FILE.');
ensureKeyring({ keyring, publicKeys });
process.stdout.write(`Keys are in ${keyring}; keep a copy of it elsewhere.\n`);
