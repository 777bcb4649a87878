import { identityPlace } from '../../contracts/cardholder.js';
import type { SealedMembers } from '../../db/cardholders.js';
import { createDataKey } from '../../providers/keys/data-key.js';
import { KeyError, type PublicKey } from '../../providers/keys/key-provider.js';
import { Problem } from '../problem.js';
import type { GatewayDeps } from './call.js';

/** The key under which fingerprints of personal data are kept. Without it nothing personal is taken: 503. */
export function fingerprintKey({ config, log }: Pick<GatewayDeps, 'config' | 'log'>): string {
  if (config.SVERKA_FINGERPRINT_KEY !== undefined) return config.SVERKA_FINGERPRINT_KEY;
  log.error('No fingerprint key is configured: set SVERKA_FINGERPRINT_KEY, then start the gateway again.');
  throw unavailable();
}

/** The key to seal with. Without it no identity is taken: 503. */
export function sealingKey({ publicKey, log }: Pick<GatewayDeps, 'publicKey' | 'log'>): PublicKey {
  if (publicKey === null) {
    log.error('No public key is configured: set SVERKA_PUBLIC_KEYS_FILE, then start the gateway again.');
    throw unavailable();
  }
  try {
    return publicKey();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    log.error('The public keys cannot be used: mend the file that SVERKA_PUBLIC_KEYS_FILE names.', { error });
    throw unavailable();
  }
}

/** Seals each member on its own, under a data key of this cardholder and revision alone. */
export function sealIdentity(
  publicKey: PublicKey,
  of: { cardholderId: string; revision: number },
  identity: readonly { member: SealedMembers['members'][number]['member']; text: string }[],
): SealedMembers {
  const { wrapped, seal } = createDataKey(publicKey);
  const members = identity.map(({ member, text }) => ({
    member,
    sealed: seal(Buffer.from(text, 'utf8'), identityPlace({ ...of, member })),
  }));
  return { keyId: wrapped.keyId, wrapped: wrapped.wrapped, members };
}

function unavailable(): Problem {
  return new Problem('temporarily_unavailable', { headers: { 'retry-after': '60' } });
}
