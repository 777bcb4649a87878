import { verifyCustodyWebhook } from '../../src/providers/custody/webhook.js';
import {
  eventually,
  type ReceivedHook,
  type SimulatedCustody,
  startSimulatedCustody,
  TEST_SECRET,
} from '../support/simulated-custody.js';

function verdict(hook: ReceivedHook | undefined): 'ok' | 'bad' {
  const headers = new Headers({ 'x-custody-signature': String(hook?.headers['x-custody-signature']) });
  return verifyCustodyWebhook({
    rawBody: hook?.body ?? Buffer.of(),
    headers,
    secrets: [TEST_SECRET],
    nowMs: Date.now(),
  });
}

describe('A webhook of the simulated custodian', () => {
  let custody: SimulatedCustody;
  let address: string;
  beforeEach(async () => {
    custody = await startSimulatedCustody();
    const made = await custody.live.createAddress({
      reference: 'r1',
      network: 'tron',
      asset: 'USDT-TRC20',
      settleIn: null,
    });
    address = made.address;
  });
  afterEach(() => custody.close());

  const arrive = (amount = '1') => custody.drive('POST', '/_sim/deposits', { address, amount, status: 'seen' });
  const fault = (body: object) =>
    custody.drive('POST', '/_sim/faults', { match: { event_type: 'deposit.*' }, ...body });
  const received = (count: number) =>
    eventually(() => custody.liveHooks.received.length >= count && custody.liveHooks.received);
  /** The attempts of the event number so many, once there are enough of them. */
  const attempts = (index: number, count: number) =>
    eventually(async () => {
      const found = (await custody.truth()).webhooks[index]?.attempts ?? [];
      return found.length >= count && found;
    });
  const hits = async () => (await custody.drive('GET', '/_sim/faults')).faults;

  test('names the deposit, carries no amount, and is signed over its bytes', async () => {
    const { id } = await arrive('12.34');
    const [hook] = await received(1);
    expect(verdict(hook)).toBe('ok');
    expect(JSON.parse(String(hook?.body))).toEqual({
      event_id: expect.any(String),
      type: 'deposit.changed',
      object_id: id,
      occurred_at: expect.any(String),
    });
  });

  test('comes for each change under an id of its own', async () => {
    const { id } = await arrive();
    await custody.drive('PATCH', `/_sim/deposits/${id}`, { confirmations: 3 });
    const hooks = await received(2);
    const ids = hooks.map((hook) => JSON.parse(String(hook.body)).event_id);
    expect(new Set(ids).size).toBe(2);
  });

  test('is sent again until it is taken, as the same bytes with a fresh signature', async () => {
    custody.hookAnswers.push(503, 401);
    await arrive();
    const hooks = await received(3);
    expect(await attempts(0, 3)).toMatchObject([{ status: 503 }, { status: 401 }, { status: 200 }]);
    expect(new Set(hooks.map((hook) => String(hook.body))).size).toBe(1);
    expect(hooks.map(verdict)).toEqual(['ok', 'ok', 'ok']);
  });

  test('is given up after its last attempt and can be sent once more', async () => {
    custody.hookAnswers.push(500, 500, 500, 500);
    await arrive();
    await attempts(0, 4);
    const eventId = (await custody.truth()).webhooks[0]?.event_id;
    expect(await custody.drive('POST', `/_sim/webhooks/${eventId}/resend`)).toMatchObject({
      attempts: [{ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 }, { status: 200 }],
    });
    await expect(custody.drive('POST', '/_sim/webhooks/none/resend')).rejects.toThrow(/404/);
  });

  test('can be dropped: nothing is sent, until it is asked for', async () => {
    await fault({ fault: 'drop', times: 1 });
    await arrive();
    await arrive();
    await received(1);
    const { webhooks } = await custody.truth();
    expect(webhooks.map((webhook) => webhook.attempts.length)).toEqual([0, 1]);
    expect(await hits()).toMatchObject([{ fault: 'drop', hits: 1 }]);
    await custody.drive('POST', `/_sim/webhooks/${webhooks[0]?.event_id}/resend`);
    expect(custody.liveHooks.received).toHaveLength(2);
  });

  test('can come several times at once', async () => {
    await fault({ fault: 'double', times: 3 });
    await arrive();
    const hooks = await received(3);
    expect(new Set(hooks.map((hook) => String(hook.body))).size).toBe(1);
    expect(await hits()).toMatchObject([{ fault: 'double', hits: 1 }]);
  });

  test('can be delayed behind a later one', async () => {
    await fault({ fault: 'delay', ms: 200, times: 1 });
    const first = await arrive();
    const second = await arrive();
    const hooks = await received(2);
    expect(hooks.map((hook) => JSON.parse(String(hook.body)).object_id)).toEqual([second.id, first.id]);
  });

  test('can be overtaken by the next, and is not lost when there is none', async () => {
    await fault({ fault: 'reorder', times: 1 });
    const first = await arrive();
    const second = await arrive();
    const hooks = await received(2);
    expect(hooks.map((hook) => JSON.parse(String(hook.body)).object_id)).toEqual([second.id, first.id]);
    await fault({ fault: 'reorder', times: 1 });
    await arrive();
    await received(3);
  });

  test('can be forged: the signature is bad, the form is right', async () => {
    custody.hookAnswers.push(401);
    await fault({ fault: 'forge', times: 1 });
    await arrive();
    const hooks = await received(2);
    expect(hooks.map(verdict)).toEqual(['bad', 'ok']);
    expect(await attempts(0, 2)).toMatchObject([
      { as: 'forged', status: 401 },
      { as: 'genuine', status: 200 },
    ]);
  });

  test('can be followed by the same id with other content, well signed', async () => {
    await fault({ fault: 'changed_body', times: 1, body: { object_id: 'another' } });
    const { id } = await arrive();
    const hooks = await received(2);
    const [genuine, changed] = hooks.map((hook) => JSON.parse(String(hook.body)));
    expect(changed.event_id).toBe(genuine.event_id);
    expect([genuine.object_id, changed.object_id]).toEqual([id, 'another']);
    expect(hooks.map(verdict)).toEqual(['ok', 'ok']);
  });

  test('meets a fault by the id of its object or by its address alone', async () => {
    await fault({ match: { reference: address.slice(0, 6).concat('*') }, fault: 'drop' });
    await arrive();
    const other = await custody.drive('POST', '/_sim/deposits', {
      address: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf',
      amount: '1',
    });
    const hooks = await received(1);
    expect(hooks.map((hook) => JSON.parse(String(hook.body)).object_id)).toEqual([other.id]);
  });
});
