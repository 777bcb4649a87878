import { freePort } from '../../src/local/ports.js';
import { type ProductProcess, startProduct } from '../support/product-process.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let nobody: number;

beforeAll(async () => {
  database = await openTestDatabase();
  nobody = await freePort();
});
afterAll(() => database.close());

const start = (name: 'console' | 'cabinet', links: 'on' | 'off') =>
  startProduct(name, {
    DATABASE_URL: database.urlFor(name),
    TEMPORAL_ADDRESS: `127.0.0.1:${nobody}`,
    SVERKA_LOCAL_LINKS: links,
  });
const readyz = async ({ opsUrl }: ProductProcess) => {
  const answer = await fetch(`${opsUrl}/readyz`);
  const { status, checks } = (await answer.json()) as { status: string; checks: { name: string; ok: boolean }[] };
  return { code: answer.status, status, failed: checks.filter(({ ok }) => !ok).map(({ name }) => name) };
};

it.each([
  ['console', '/operator'],
  ['cabinet', '/cabinet'],
] as const)('the %s serves its pages without Temporal, counts them, and stops in order', async (name, home) => {
  const product = await start(name, 'on');
  try {
    expect(await readyz(product)).toEqual({ code: 200, status: 'degraded', failed: ['temporal'] });
    const page = await fetch(`${product.url}${home}/sign-in`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringMatching(/^<!doctype html><html lang="en"/)]);
    for (const path of ['/livez', '/readyz', '/metrics']) expect((await fetch(product.url + path)).status).toBe(404);
    const metrics = await (await fetch(`${product.opsUrl}/metrics`)).text();
    expect(metrics).toContain(`{method="GET",route="${home}/sign-in",status="200"}`);
  } finally {
    expect(await product.stop()).toBe(0);
  }
});

it('where nobody can sign in, the process says that it is not ready', async () => {
  const product = await start('console', 'off');
  try {
    expect(await readyz(product)).toMatchObject({ code: 503, status: 'failed', failed: ['sign_in', 'temporal'] });
  } finally {
    await product.stop();
  }
});
