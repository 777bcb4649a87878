// Writes openapi.json, the committed copy of what the gateway serves: `node --import tsx scripts/openapi.mjs`.
import { writeFileSync } from 'node:fs';
import { buildOpenApi } from '../src/http/gateway/openapi.ts';
import { ROUTES } from '../src/http/gateway/routes.ts';

const file = new URL('../openapi.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(buildOpenApi(ROUTES), null, 2)}\n`);
