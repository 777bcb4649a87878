import { hasArrangedKeys, keyFiles } from '../../local/key-files.js';
import { KeyError } from '../../providers/keys/key-provider.js';
import { readKeyring, readPublicKeys } from '../../providers/keys/keyring-file.js';
import { type Finding, missing, ok, RESTART } from './finding.js';

/**
 * The keys that seal identities: the private ones whole and for this user alone, the public ones with the same current
 * key. Where a person has put them elsewhere, those files; keys in AWS KMS or Vault are not asked for.
 */
export function checkKeyring({ env, state }: { env: NodeJS.ProcessEnv; state: string }): Finding[] {
  const arranged = hasArrangedKeys(env);
  const local = keyFiles(state);
  const keyring = arranged ? env['SVERKA_KEYRING_FILE'] : local.keyring;
  const publicKeys = arranged ? env['SVERKA_PUBLIC_KEYS_FILE'] : local.publicKeys;
  const fix = arranged ? 'Mend it, or correct the setting that names it.' : `Put back its copy. Else: ${RESTART}`;
  const privately = keyring ? [look('keyring', fix, () => readKeyring(keyring))] : [];
  const publicly = publicKeys ? [look('public-keys', fix, () => readPublicKeys(publicKeys))] : [];
  const [secret, open] = [privately[0]?.found, publicly[0]?.found];
  const findings = [...privately, ...publicly].map(({ finding }) => finding);
  if (!secret || !open || secret.current === open.current) return findings;
  const detail = `the gateway seals with ${open.current}, and the keyring's current key is ${secret.current}`;
  const isKept = secret.keys.some(({ id }) => id === open.current);
  if (isKept) return findings;
  return [...findings, missing('keys-agree', detail, 'Put the two files of one rotation in place together.')];
}

function look<Content extends { current: string; keys: readonly object[] }>(
  check: string,
  fix: string,
  read: () => Content,
): { finding: Finding; found: Content | null } {
  try {
    const found = read();
    const others = found.keys.length - 1;
    return { finding: ok(check, `current ${found.current}, ${others} older`), found };
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    const tooOpen = error.kind === 'refused';
    const detail = tooOpen ? 'others on this machine can read the private keys in it' : 'it is missing or damaged';
    return { finding: missing(check, detail, tooOpen ? error.message : `${error.message} ${fix}`), found: null };
  }
}
