import { assetResponse } from './assets.js';
import type { PagesDeps } from './call.js';
import { homeOf } from './navigation.js';
import type { PageRoute } from './page-route.js';
import { settingsRoutes } from './settings.js';
import { signInRoutes } from './sign-in.js';

/** The rows that every audience has; `table` is the whole of its routes, where a sign-in may lead. */
export function commonRoutes<Deps extends PagesDeps>(
  audience: Deps['audience'],
  table: () => readonly PageRoute<Deps>[],
): readonly PageRoute<Deps>[] {
  return [
    ...signInRoutes(audience, table),
    ...settingsRoutes<Deps>(audience),
    {
      method: 'GET',
      path: `${homeOf(audience)}/assets/:file`,
      roles: 'anyone',
      names: null,
      handler: async ({ params }) => assetResponse(params['file'] ?? ''),
    },
  ];
}
