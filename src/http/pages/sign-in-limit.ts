import { createRateLimiter } from '../gateway/rate-limit.js';
import type { PagesDeps } from './call.js';
import { PageError } from './page-error.js';

const ATTEMPTS = 10;
const WINDOW_MS = 60_000;

/** Counts an attempt to sign in from that address, in every copy of the process; throws 429 for more than `most`. */
export async function countSignIn({ db, audience }: PagesDeps, address: string, most = ATTEMPTS): Promise<void> {
  const limiter = createRateLimiter(db, { limit: most, windowMs: WINDOW_MS, prefix: `sign-in-${audience}` });
  if ((await limiter.consume(address)).exceeded) throw new PageError(429);
}
