import { requestDepositAddress } from '../../src/client/deposit-addresses.js';
import { findRunningRequest } from '../../src/client/request-progress.js';
import { connectTemporal, type Temporal } from '../../src/client/temporal.js';
import { loadConfig } from '../../src/config.js';
import { depositAddressWorkflowId } from '../../src/contracts/ids.js';
import { requestId } from '../../src/db/new-id.js';
import { makeMerchant, openTestGateway, type TestGateway } from '../support/gateway.js';
import { testTemporal, uniqueTaskQueue } from '../support/test-temporal.js';

let gateway: TestGateway;
let temporal: Temporal;
beforeAll(async () => {
  // A queue that no worker listens to: what is started is never answered.
  temporal = connectTemporal(
    loadConfig({
      DATABASE_URL: 'postgres://unused',
      TEMPORAL_ADDRESS: testTemporal().address,
      SVERKA_TASK_QUEUE: uniqueTaskQueue(),
    }),
  );
  gateway = await openTestGateway({
    starts: {
      depositAddress: (input, deadlineMs) => requestDepositAddress(temporal, input, deadlineMs),
      findRunning: (of) => findRunningRequest(temporal, of),
    },
  });
});
afterAll(async () => {
  await gateway?.close();
  await temporal?.connection.close();
});

test('a create that no worker answers is 202 to its request; a second joins it, another body is refused', async () => {
  const { id: merchantId, keys } = await makeMerchant(gateway.tx);
  const id = requestId({ book: 'live', merchantId, key: 'k' });
  const headers = { 'idempotency-key': 'k', prefer: 'respond-async' };
  const post = (body = { network: 'tron' }) =>
    gateway.call('POST', '/v1/deposit-addresses', { key: keys.live, body, headers });

  const answers = await Promise.all([post(), post()]);
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('location'), answer.json.state]).toEqual([
      202,
      `/v1/requests/${id}`,
      'in_progress',
    ]);
  }
  expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true').length).toBe(1);
  const other = await post({ network: 'bitcoin' });
  expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
  const read = await gateway.call('GET', `/v1/requests/${id}`, { key: keys.live });
  expect([read.json.state, read.headers.get('retry-after')]).toEqual(['in_progress', '1']);

  const workflowId = depositAddressWorkflowId({ book: 'live', merchantId, requestId: id });
  const handle = temporal.client.workflow.getHandle(workflowId);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await handle.terminate('the test is over');
  expect((await gateway.call('GET', `/v1/requests/${id}`, { key: keys.live })).json.state).toBe('not_seen');
});
