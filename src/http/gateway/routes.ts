import type { Route } from './route.js';
import { getAddressBalances, getBalanceCheck, listBalanceChecksRoute, listBalancesRoute } from './routes/balances.js';
import { closeCard, freezeCard, unfreezeCard } from './routes/card-changes.js';
import {
  createCardholderRoute,
  eraseCardholderRoute,
  getCardholder,
  listCardholdersRoute,
  reviseCardholderRoute,
} from './routes/cardholders.js';
import { createCard, getCard, listCardsRoute } from './routes/cards.js';
import { createDepositAddress, getDepositAddress, listDepositAddressesRoute } from './routes/deposit-addresses.js';
import { getDeposit, listDepositsRoute } from './routes/deposits.js';
import { createLoad, getLoad, listLoadsRoute } from './routes/loads.js';
import { getMovement, listMovementsRoute } from './routes/movements.js';
import { getRequest } from './routes/requests.js';
import { getWallet } from './routes/wallet.js';

/** Every route behind a key, in the order that OpenAPI shows them. A new one is added here and nowhere else. */
export const ROUTES: readonly Route[] = [
  getWallet,
  listMovementsRoute,
  getMovement,
  createDepositAddress,
  listDepositAddressesRoute,
  getDepositAddress,
  listDepositsRoute,
  getDeposit,
  createCardholderRoute,
  listCardholdersRoute,
  getCardholder,
  reviseCardholderRoute,
  eraseCardholderRoute,
  createCard,
  listCardsRoute,
  getCard,
  freezeCard,
  unfreezeCard,
  closeCard,
  createLoad,
  listLoadsRoute,
  getLoad,
  listBalancesRoute,
  getAddressBalances,
  listBalanceChecksRoute,
  getBalanceCheck,
  getRequest,
];
