import { createPagesApp } from '../pages/pages-app.js';
import type { CabinetDeps } from './cabinet-deps.js';
import { CABINET_ROUTES } from './routes.js';

/** The merchant's cabinet: server-rendered pages below `/cabinet`. */
export function createCabinetApp(deps: Omit<CabinetDeps, 'audience'>) {
  return createPagesApp<CabinetDeps>({ ...deps, audience: 'cabinet' }, CABINET_ROUTES);
}
