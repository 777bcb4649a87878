import type { Role } from '../pages/call.js';
import { commonRoutes } from '../pages/common-routes.js';
import { type PageRoute, signedRoute } from '../pages/page-route.js';
import type { CabinetDeps } from './cabinet-deps.js';
import { walletPage } from './pages/wallet-page.js';

const REQUESTER: readonly Role[] = ['requester'];

/** Every page of the cabinet, who may see it, and what its id names. What has no row here is not served. */
export const CABINET_ROUTES: readonly PageRoute<CabinetDeps>[] = [
  ...commonRoutes<CabinetDeps>('cabinet', () => CABINET_ROUTES),
  signedRoute({ method: 'GET', path: '/cabinet', roles: REQUESTER, names: null, handler: walletPage }),
];
