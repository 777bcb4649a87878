import { createPagesApp } from '../pages/pages-app.js';
import type { ConsoleDeps } from './console-deps.js';
import { CONSOLE_ROUTES } from './routes.js';

/** The operator console: server-rendered pages below `/operator`. */
export function createConsoleApp(deps: Omit<ConsoleDeps, 'audience'>) {
  return createPagesApp<ConsoleDeps>({ ...deps, audience: 'console' }, CONSOLE_ROUTES);
}
