import type { Role } from '../pages/call.js';
import { commonRoutes } from '../pages/common-routes.js';
import { type PageRoute, signedRoute } from '../pages/page-route.js';
import type { ConsoleDeps } from './console-deps.js';
import { homePage } from './pages/home-page.js';

/** Everybody of ours: the auditor reads all and changes nothing. */
const READERS: readonly Role[] = ['operator', 'approver', 'admin', 'auditor'];

/** Every page of the console, who may see it, and what its id names. What has no row here is not served. */
export const CONSOLE_ROUTES: readonly PageRoute<ConsoleDeps>[] = [
  ...commonRoutes<ConsoleDeps>('console', () => CONSOLE_ROUTES),
  signedRoute({ method: 'GET', path: '/operator', roles: READERS, names: null, handler: homePage }),
];
