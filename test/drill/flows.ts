import type { Flow } from './flow.js';
import { addressFlow } from './flows/address-flow.js';
import { confirmedFlow } from './flows/confirmed-flow.js';
import { deadLetterFlow } from './flows/dead-letter-flow.js';
import { decisionFlow } from './flows/decision-flow.js';
import { depositFlow } from './flows/deposit-flow.js';
import { lostCreateFlow } from './flows/lost-create-flow.js';
import { pageFlow } from './flows/page-flow.js';
import { seenFlow } from './flows/seen-flow.js';
import { sweepEndFlow, sweepFlow } from './flows/sweep-flow.js';

/** Every flow there is. A new one is a file below `flows/` and a line here. */
export const FLOWS: readonly Flow[] = [
  depositFlow,
  seenFlow,
  confirmedFlow,
  decisionFlow,
  pageFlow,
  addressFlow,
  lostCreateFlow,
  sweepFlow,
  sweepEndFlow,
  deadLetterFlow,
];
