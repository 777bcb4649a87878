import type { Role } from '../pages/call.js';
import { commonRoutes } from '../pages/common-routes.js';
import { type PageRoute, signedRoute } from '../pages/page-route.js';
import type { CabinetDeps } from './cabinet-deps.js';
import { addressCode, addressesPage, addressPage } from './pages/addresses-page.js';
import { cardPage, cardsPage } from './pages/cards-page.js';
import { depositPage, depositsPage } from './pages/deposits-page.js';
import { addDestinationAct, destinationsPage, removeDestinationAct } from './pages/destinations-page.js';
import { movementPage } from './pages/movement-page.js';
import { statementPage } from './pages/statement-page.js';
import { walletPage } from './pages/wallet-page.js';
import { newWithdrawalPage, requestWithdrawalAct } from './pages/withdrawal-new-page.js';
import { cancelWithdrawalAct, editWithdrawalAct, withdrawalPage } from './pages/withdrawal-page.js';
import { withdrawalsPage } from './pages/withdrawals-page.js';

type Handler = Parameters<typeof signedRoute<CabinetDeps>>[0]['handler'];

const REQUESTER: readonly Role[] = ['requester'];

/** A page that reads; `names` is what its id names, of the session's merchant and book alone. */
const read = (path: string, handler: Handler, names: string | null = null) =>
  signedRoute<CabinetDeps>({ method: 'GET', path, roles: REQUESTER, names, handler });

/** A form that changes something of his own. */
const act = (path: string, handler: Handler, names: string | null = null) =>
  signedRoute<CabinetDeps>({ method: 'POST', path, roles: REQUESTER, names, handler });

/** Every page of the cabinet, who may see it, and what its id names. What has no row here is not served. */
export const CABINET_ROUTES: readonly PageRoute<CabinetDeps>[] = [
  ...commonRoutes<CabinetDeps>('cabinet', () => CABINET_ROUTES),
  read('/cabinet', walletPage),
  read('/cabinet/statement', statementPage),
  read('/cabinet/movements/:id', movementPage, 'movement'),
  read('/cabinet/addresses', addressesPage),
  read('/cabinet/addresses/:id', addressPage, 'deposit address'),
  read('/cabinet/addresses/:id/code.svg', addressCode, 'deposit address'),
  read('/cabinet/deposits', depositsPage),
  read('/cabinet/deposits/:id', depositPage, 'deposit'),
  read('/cabinet/cards', cardsPage),
  read('/cabinet/cards/:id', cardPage, 'card'),
  read('/cabinet/withdrawals', withdrawalsPage),
  read('/cabinet/withdrawals/new', newWithdrawalPage),
  act('/cabinet/withdrawals', requestWithdrawalAct),
  read('/cabinet/withdrawals/:id', withdrawalPage, 'withdrawal'),
  act('/cabinet/withdrawals/:id/edit', editWithdrawalAct, 'withdrawal'),
  act('/cabinet/withdrawals/:id/cancel', cancelWithdrawalAct, 'withdrawal'),
  read('/cabinet/destinations', destinationsPage),
  act('/cabinet/destinations', addDestinationAct),
  act('/cabinet/destinations/:id/remove', removeDestinationAct, 'destination'),
];
