import { TestWorkflowEnvironment } from '@temporalio/testing';
import { timeSkippingServer } from '../support/test-temporal.js';

test('the pinned time-skipping server is found and lets three days pass at once', async () => {
  const path = await timeSkippingServer();
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  try {
    const before = await environment.currentTimeMs();
    await environment.sleep('3 days');
    expect((await environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(3 * 24 * 3_600_000);
  } finally {
    await environment.teardown();
  }
});
