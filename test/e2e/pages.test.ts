import { randomUUID } from 'node:crypto';
import { noBrowser, openBrowser } from '../support/browser.js';
import { eventually, type ProductFolder, productFolder, type RunningProduct } from '../support/running-product.js';

const WITHIN_MS = 300_000;
const missing = noBrowser();
const inBrowser = missing === null ? describe : describe.skip;
if (missing !== null) process.stdout.write(`The pages are not looked at: ${missing}.\n`);

let folder: ProductFolder;
let product: RunningProduct;
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  if (missing !== null) return;
  folder = productFolder();
  product = await folder.start();
  browser = await openBrowser();
}, WITHIN_MS);
afterAll(async () => {
  await browser?.close();
  await product?.stop();
  folder?.remove();
}, WITHIN_MS);

inBrowser('in a real browser', () => {
  test(
    'the API docs show every operation, from disk and without a complaint of the browser',
    async () => {
      const { gatewayUrl } = product.run();
      const document = (await (await fetch(`${gatewayUrl}/openapi.json`)).json()) as { paths: Record<string, object> };
      const { page, complaints } = await browser.open(`${gatewayUrl}/docs`);
      const operations = Object.values(document.paths).flatMap((path) => Object.keys(path)).length;
      await eventually('the operations are shown', async () => (await page.locator('.opblock').count()) >= operations);
      expect(complaints).toEqual([]);
    },
    WITHIN_MS,
  );

  test(
    'each problem has a page that says what to do next',
    async () => {
      const { page, complaints } = await browser.open(`${product.run().gatewayUrl}/problems/idempotency_key_reused`);
      expect(await page.locator('body').innerText()).toContain('Use a new key for another call');
      expect(complaints).toEqual([]);
    },
    WITHIN_MS,
  );

  test(
    "Temporal's UI shows where a deposit is, and that it was credited",
    async () => {
      const run = product.run();
      const merchant = run.merchants.find(({ book }) => book === 'live');
      const made = await fetch(`${run.gatewayUrl}/v1/deposit-addresses`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${merchant?.apiKey}`,
          'idempotency-key': randomUUID(),
          'content-type': 'application/json',
        },
        body: JSON.stringify({ network: 'tron' }),
      });
      const { address } = (await made.json()) as { address: string };
      const sent = await fetch(`${run.simulators['custody']?.url}/_sim/deposits`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ address, amount: '5' }),
      });
      const { id } = (await sent.json()) as { id: string };
      const workflow = `deposit:live:custody:${id}`;
      const { page } = await browser.open(`${run.temporalUiUrl}/namespaces/default/workflows/${workflow}`);
      await eventually('the UI shows the workflow as completed', async () => {
        const text = await page.locator('body').innerText();
        return /completed/i.test(text) && text.includes('final');
      });
      expect(await page.locator('body').innerText()).not.toContain('5.000000');
    },
    WITHIN_MS,
  );
});
