// Makes the file of keys that payloads in Temporal are encrypted with, or takes one half of a rotation:
//   node --import tsx deploy/payload-keys.mjs FILE            a file with one key, where there is none
//   node --import tsx deploy/payload-keys.mjs FILE add|use    one more key beside the others · the newest one encrypts
// docs/operating/payload-encryption.md says what has to happen between the two halves. No key is printed.
import { ensurePayloadKeys, rotatePayloadKeys } from '../src/local/payload-keys.ts';

const [file, step] = process.argv.slice(2);
if (!file || !['add', 'use', undefined].includes(step)) throw new Error('Say FILE, FILE add or FILE use.');
const made = ensurePayloadKeys(file);
if (step === undefined) process.stdout.write(made ? `Made ${file}.\n` : `${file} is there and stays as it is.\n`);
else
  process.stdout.write(`${step === 'add' ? 'Added' : 'Encrypting from now on is'} ${rotatePayloadKeys(file, step)}.\n`);
