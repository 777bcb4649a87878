// Writes docs/reference/states.md; run it with `node --import tsx scripts/write-state-diagrams.mjs`.
import { writeFileSync } from 'node:fs';
import { renderStates } from '../test/support/state-diagrams.ts';

writeFileSync(new URL('../docs/reference/states.md', import.meta.url), renderStates());
