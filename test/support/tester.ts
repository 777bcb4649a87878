import type { Author } from '../../src/db/author.js';

/** Who does what a test does through an admin's door. */
export const TESTER: Author = { actor: 'test', traceId: null };
