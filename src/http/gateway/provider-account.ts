import type { ProviderConfig } from '../../config.js';
import { breakerName, breakerOpenMs } from '../../db/breaker.js';
import { Problem } from '../problem.js';
import type { Call } from './call.js';

/**
 * Our account at a provider for the caller's book, when it can be called. Throws `provider_unavailable` when none is
 * configured or the breaker is open: before anything is reserved or sent, so that the key stays free.
 */
export async function requireProvider<Name extends ProviderConfig['provider']>(
  { deps, caller }: Call<unknown, unknown>,
  provider: Name,
): Promise<{ provider: Name; account: string }> {
  const { book } = caller;
  const account = deps.config.providers.find((one) => one.provider === provider && one.book === book);
  if (!account) throw new Problem('provider_unavailable', { headers: { 'retry-after': '60' } });
  const openMs = await breakerOpenMs(deps.db, breakerName({ provider, book }));
  if (openMs > 0) {
    throw new Problem('provider_unavailable', { headers: { 'retry-after': String(Math.ceil(openMs / 1_000)) } });
  }
  return { provider, account: account.account };
}
