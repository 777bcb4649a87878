import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { noBrowser, openBrowser } from '../support/browser.js';
import { clearPayloads } from '../support/clear-texts.js';
import { eventually, type ProductFolder, productFolder, type RunningProduct } from '../support/running-product.js';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

const WITHIN_MS = 300_000;
const missing = noBrowser();
const inBrowser = missing === null ? describe : describe.skip;
if (missing !== null) process.stdout.write(`Temporal's UI is not looked at: ${missing}.\n`);

let folder: ProductFolder;
let product: RunningProduct;
let workflowId = '';
beforeAll(async () => {
  folder = productFolder();
  product = await folder.start(['--no-story', '--encrypt-payloads']);
  workflowId = await depositAddress('tron');
}, WITHIN_MS);
afterAll(async () => {
  await product?.stop();
  folder?.remove();
}, WITHIN_MS);

/** Asks the gateway for an address; answers the id of its workflow. */
async function depositAddress(network: string): Promise<string> {
  const { gatewayUrl, merchants } = product.run();
  const merchant = merchants[0];
  const answer = await fetch(`${gatewayUrl}/v1/deposit-addresses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${merchant?.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ network }),
  });
  // On a busy machine the address is still being made: its workflow is what is looked at.
  expect([201, 202]).toContain(answer.status);
  const { client, close } = await temporal();
  const found = await eventually('the workflow is listed', async () => {
    // Of a raw list only the ids are read: a client without keys cannot open the memos.
    const query = 'WorkflowType = "depositAddress"';
    const { executions } = await client.workflowService.listWorkflowExecutions({ namespace: 'default', query });
    return (
      executions.map(({ execution }) => execution?.workflowId).find((id) => id != null && id !== workflowId) ?? null
    );
  });
  await close();
  return found;
}

/** A client without keys. */
async function temporal() {
  const connection = await Connection.connect({ address: product.run().temporalAddress });
  return { client: new Client({ connection }), close: () => connection.close() };
}

async function historyJson(): Promise<string> {
  const { client, close } = await temporal();
  const text = historyToJSON(await client.workflow.getHandle(workflowId).fetchHistory());
  await close();
  return text;
}

test(
  'with the flag every process encrypts, and run.json says where the keys and the codec are',
  async () => {
    const run = product.run();
    const keys = resolve(REPOSITORY_ROOT, run.payloadKeysFile ?? '');
    expect([keys, statSync(keys).mode & 0o777]).toEqual([join(folder.state, 'payload-keys.json'), 0o600]);
    expect((await fetch(`${run.opsUrls['codec']}/readyz`)).status).toBe(200);
    expect(run.codecToken).toMatch(/^\S{32,}$/);
    const history = JSON.parse(await historyJson());
    const clear = clearPayloads({ workflowId, history }).filter(({ at }) => !at.includes('.searchAttributes.'));
    expect([clear, history.events.length > 5]).toEqual([[], true]);
  },
  WITHIN_MS,
);

test(
  'the codec opens a payload of a history for who has its token',
  async () => {
    const { codecUrl, codecToken } = product.run();
    const { events } = JSON.parse(await historyJson());
    const body = JSON.stringify(events[0].workflowExecutionStartedEventAttributes.input);
    const headers = { 'content-type': 'application/json', 'x-namespace': 'default' };
    const ask = (authorization: string) =>
      fetch(`${codecUrl}/codec/decode`, { method: 'POST', headers: { ...headers, authorization }, body });
    expect((await ask('Bearer wrong')).status).toBe(401);
    const { payloads } = (await (await ask(`Bearer ${codecToken}`)).json()) as { payloads: { data: string }[] };
    const input = JSON.parse(Buffer.from(payloads[0]?.data ?? '', 'base64').toString('utf8'));
    expect(input).toMatchObject({ network: 'tron', merchantId: product.run().merchants[0]?.id });
    const log = readFileSync(join(folder.state, 'log/codec.jsonl'), 'utf8');
    expect(log).toContain('"operation":"decode","source":"token","count":1,"namespace":"default"');
  },
  WITHIN_MS,
);

inBrowser('in a real browser', () => {
  test(
    "Temporal's UI shows payloads in clear once the browser has signed in at the codec",
    async () => {
      const { codecUrl, codecToken, temporalUiUrl } = product.run();
      const browser = await openBrowser();
      const { page } = await browser.open(`${temporalUiUrl}/namespaces/default/workflows/${workflowId}`);
      const merchant = product.run().merchants[0]?.id ?? '';
      const text = () => page.locator('main').innerText();
      // A page that was drawn before the run had ended is drawn again.
      const shows = async (what: string) => {
        if ((await text()).includes(what)) return true;
        await pause(2_000);
        if ((await text()).includes(what)) return true;
        await page.reload();
        return false;
      };
      await eventually('the run is shown', () => shows('depositAddress'));
      await eventually('the codec is asked, and does not open it', () => shows('Codec Server could not connect'));
      expect(await text()).not.toContain('settlementMode');
      await page.goto(`${codecUrl}/sign-in`);
      await page.fill('input[name=token]', codecToken ?? '');
      await page.click('button');
      await eventually('the session is open', async () => (await text()).includes('Signed in'));
      await page.goto(`${temporalUiUrl}/namespaces/default/workflows`);
      // What a person ticks in the UI's dialog "Configure Codec Server".
      await page.evaluate(
        ([endpoint]) => {
          const { localStorage } = globalThis as unknown as { localStorage: Record<string, string> };
          Object.assign(localStorage, {
            endpoint,
            includeCredentials: 'true',
            overrideRemoteCodecConfiguration: 'true',
          });
        },
        [JSON.stringify(`${codecUrl}/codec`)],
      );
      await page.goto(`${temporalUiUrl}/namespaces/default/workflows/${workflowId}`);
      await eventually('the payload is shown in clear', () => shows('"settlementMode"'));
      expect(await text()).toContain(merchant);
      await browser.close();
    },
    WITHIN_MS,
  );
});

test(
  'started without the flag, what was encrypted is still opened, and nothing is encrypted any more',
  async () => {
    await product.stop();
    product = await folder.start();
    const run = product.run();
    expect([run.codecUrl, run.pids['codec']]).toEqual([null, undefined]);
    await eventually('the worker goes on with its standing workflows', async () => {
      const ready = await fetch(`${run.opsUrls['worker']}/readyz`);
      return ready.status === 200;
    });
    workflowId = await depositAddress('ethereum');
    const history = JSON.parse(await historyJson());
    expect(clearPayloads({ workflowId, history }).map(({ at }) => at)).toContain(
      'workflowExecutionStartedEventAttributes.input.payloads',
    );
  },
  WITHIN_MS,
);
