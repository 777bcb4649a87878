import type { Flow } from './flow.js';
import { addressFlow } from './flows/address-flow.js';
import { balanceDrainFlow, balanceFlow, balanceRebaseFlow } from './flows/balance-flow.js';
import { cardChangeFlow, cardFreezeFlow } from './flows/card-change-flow.js';
import { cardLoadFlow } from './flows/card-load-flow.js';
import { cardLostFlow } from './flows/card-lost-flow.js';
import { confirmedFlow } from './flows/confirmed-flow.js';
import { deadLetterFlow } from './flows/dead-letter-flow.js';
import { decisionFlow } from './flows/decision-flow.js';
import { depositFlow } from './flows/deposit-flow.js';
import { issuanceAsyncFlow } from './flows/issuance-async-flow.js';
import { issuanceDecisionFlow, issuanceLinkFlow } from './flows/issuance-decision-flow.js';
import { issuanceDeclinedFlow } from './flows/issuance-declined-flow.js';
import { issuanceFlow } from './flows/issuance-flow.js';
import { issuanceLostFlow } from './flows/issuance-lost-flow.js';
import { issuancePageFlow } from './flows/issuance-page-flow.js';
import { lostCreateFlow } from './flows/lost-create-flow.js';
import { pageFlow } from './flows/page-flow.js';
import { seenFlow } from './flows/seen-flow.js';
import { sweepEndFlow, sweepFlow } from './flows/sweep-flow.js';
import { withdrawalFlow } from './flows/withdrawal-flow.js';

/** Every flow there is. A new one is a file below `flows/` and a line here. */
export const FLOWS: readonly Flow[] = [
  depositFlow,
  seenFlow,
  confirmedFlow,
  decisionFlow,
  pageFlow,
  addressFlow,
  lostCreateFlow,
  issuanceFlow,
  issuanceAsyncFlow,
  issuanceLostFlow,
  issuanceDeclinedFlow,
  issuanceDecisionFlow,
  issuanceLinkFlow,
  issuancePageFlow,
  cardLoadFlow,
  cardChangeFlow,
  cardFreezeFlow,
  cardLostFlow,
  withdrawalFlow,
  sweepFlow,
  sweepEndFlow,
  deadLetterFlow,
  balanceFlow,
  balanceRebaseFlow,
  balanceDrainFlow,
];
