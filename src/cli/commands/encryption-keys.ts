import { dirname } from 'node:path';
import { hasArrangedKeys, type KeyFiles, keyFiles } from '../../local/key-files.js';
import { createKeyProvider } from '../../providers/keys/create-key-provider.js';
import { KeyError } from '../../providers/keys/key-provider.js';
import { keySettings } from '../../providers/keys/key-settings.js';
import { readKeyring, rotateKeyring, writePublicKeys } from '../../providers/keys/keyring-file.js';
import type { Command, Context } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { answerDryRun } from '../resources.js';

const TIMEOUT_MS = 8_000;

/** What a rotation came to: ids and files, never a key. */
interface Rotated {
  readonly current: string;
  readonly older: readonly string[];
  readonly files: readonly string[];
}

export const rotateEncryptionCommand: Command = {
  path: ['keys', 'rotate-encryption'],
  summary: 'seal identities with a new key from now on; older keys still open what they sealed',
  examples: ['keys rotate-encryption --dry-run', 'keys rotate-encryption --json'],
  async run(context) {
    const { out, flags } = context;
    const place = placeOf(context);
    const rotated = await (flags.dryRun ? foresee(context, place) : rotate(context, place)).catch(asFailure);
    if (flags.dryRun) {
      const would = `seal with ${rotated.current} and keep ${count(rotated.older)}, in ${rotated.files.join(' and ')}`;
      return answerDryRun(context, would, null);
    }
    const { current, older, files } = rotated;
    out.result({ object: 'encryption_key', id: current, older: [...older], files: [...files] }, () => {
      out.line(`${out.mark.good('Sealing')} with ${current} from now on; what ${count(older)} sealed still opens.`);
      out.line(`Written: ${files.join(', ')}. Running processes read them again by themselves.`);
      out.line('Copy the private keys to a safe place now: what they seal is lost without them.');
    });
    return EXIT.done;
  },
};

type Place =
  | { readonly kind: 'keyring'; readonly files: KeyFiles }
  | { readonly kind: 'service'; readonly file: string };

/** A keyring file is given a key; of keys in a service only the public file is written, from what the service says. */
function placeOf(context: Context): Place {
  const { env } = context;
  const { SVERKA_KEYRING_FILE: keyring, SVERKA_PUBLIC_KEYS_FILE: publicKeys } = env;
  if (!hasArrangedKeys(env)) {
    const profile = context.profile();
    if (profile.run !== null) return { kind: 'keyring', files: keyFiles(dirname(profile.file)) };
  }
  const { awsKms, vault } = keySettings(env, TIMEOUT_MS);
  if (publicKeys && (awsKms || vault)) return { kind: 'service', file: publicKeys };
  if (publicKeys && keyring) return { kind: 'keyring', files: { keyring, publicKeys } };
  throw new CliFailure(
    'usage',
    'Where the keys are is not said: set SVERKA_PUBLIC_KEYS_FILE, and SVERKA_KEYRING_FILE or the settings of AWS KMS ' +
      'or Vault, as the worker and the gateway have them.',
  );
}

async function rotate(context: Context, place: Place): Promise<Rotated> {
  if (place.kind === 'keyring') {
    const { current, keys } = rotateKeyring(place.files);
    return { current, older: others(keys, current), files: [place.files.keyring, place.files.publicKeys] };
  }
  const keys = await publicKeysOf(context);
  writePublicKeys(place.file, { version: 1, current: keys.current, keys: [...keys.all] });
  return { current: keys.current, older: others(keys.all, keys.current), files: [place.file] };
}

async function foresee(context: Context, place: Place): Promise<Rotated> {
  if (place.kind === 'keyring') {
    const { keys } = readKeyring(place.files.keyring);
    const files = [place.files.keyring, place.files.publicKeys];
    return { current: 'a new key', older: others(keys, ''), files };
  }
  const { current, all } = await publicKeysOf(context);
  return { current, older: others(all, current), files: [place.file] };
}

/** The newest key of the service first: it was made there, by whoever may. */
async function publicKeysOf({ env }: Context) {
  const settings = keySettings(env, TIMEOUT_MS);
  const keys = createKeyProvider({ ...settings, keyringFile: undefined });
  try {
    const all = (await keys.publicKeys()).map(({ keyId, key }) => ({
      id: keyId,
      publicKey: key.export({ type: 'spki', format: 'pem' }).toString(),
    }));
    const [first] = all;
    if (!first) throw new CliFailure('notFound', 'The service holds no key for us: make one there first.');
    return { current: first.id, all };
  } finally {
    await keys.close();
  }
}

function others(keys: readonly { readonly id: string }[], current: string): string[] {
  return keys.map(({ id }) => id).filter((id) => id !== current);
}

function count(older: readonly string[]): string {
  return older.length === 1 ? 'one older key' : `${older.length} older keys`;
}

function asFailure(error: unknown): never {
  if (!(error instanceof KeyError)) throw error;
  if (error.kind === 'unavailable') throw new CliFailure('unavailable', error.message);
  throw new CliFailure('conflict', error.message, { problem: 'invalid_state' });
}
