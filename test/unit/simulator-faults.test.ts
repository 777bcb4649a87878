import { eventually, type SimulatedCustody, startSimulatedCustody } from '../support/simulated-custody.js';

const request = (reference: string) => ({ reference, network: 'tron', asset: 'USDT-TRC20', settleIn: null });

describe('The faults of a simulator', () => {
  let custody: SimulatedCustody;
  beforeAll(async () => {
    custody = await startSimulatedCustody({ timeoutMs: 1_000 });
  });
  afterAll(() => custody.close());
  beforeEach(() => custody.drive('POST', '/_sim/reset'));

  const fault = (body: object) => custody.drive('POST', '/_sim/faults', body);
  const list = async () => (await custody.drive('GET', '/_sim/faults')).faults;
  /** True when the call meets a 503. */
  const met = (call: Promise<unknown>) =>
    call.then(
      () => false,
      (error: unknown) => {
        expect(error).toMatchObject({ status: 503 });
        return true;
      },
    );

  test.each([
    [{}, true],
    [{ method: 'GET' }, true],
    [{ method: 'get' }, true],
    [{ method: 'POST' }, false],
    [{ path: '/v1/deposits/d1' }, true],
    [{ path: '/v1/deposits/*' }, true],
    [{ path: '/v1/deposits' }, false],
    [{ reference: 'd1' }, true],
    [{ reference: 'd*' }, true],
    [{ reference: 'd' }, false],
    [{ method: 'GET', path: '/v1/*', reference: 'e1' }, false],
  ])('hold for a call of d1 by the match %j: %p', async (match, expected) => {
    await fault({ match, fault: 'status', status: 503 });
    const call = custody.live.readDeposit('d1').catch((error) => {
      if (error.status !== 404) throw error;
    });
    expect(await met(call)).toBe(expected);
    expect(await list()).toMatchObject([{ hits: expected ? 1 : 0 }]);
  });

  test('find the reference in the body and in the query', async () => {
    await fault({ match: { reference: 'r1' }, fault: 'status', status: 503 });
    expect(await met(custody.live.createAddress(request('r1')))).toBe(true);
    expect(await met(custody.live.readAddressByReference('r1'))).toBe(true);
    expect(await met(custody.live.createAddress(request('r2')))).toBe(false);
  });

  test('apply as often as said, in the order they were made, and stay in the list with their hits', async () => {
    await fault({ match: { reference: 'r1' }, fault: 'status', status: 503, times: 2 });
    await fault({ match: { reference: 'r1' }, fault: 'not_found', times: 1 });
    expect(await met(custody.live.readAddressByReference('r1'))).toBe(true);
    expect(await met(custody.live.readAddressByReference('r1'))).toBe(true);
    expect(await custody.live.readAddressByReference('r1')).toBeNull();
    expect(await list()).toMatchObject([
      { fault: 'status', hits: 2 },
      { fault: 'not_found', hits: 1 },
    ]);
  });

  test('end when they are deleted', async () => {
    const { id } = await fault({ match: {}, fault: 'status', status: 503 });
    expect(await met(custody.live.readAddressByReference('r1'))).toBe(true);
    await custody.drive('DELETE', `/_sim/faults/${id}`);
    expect(await met(custody.live.readAddressByReference('r1'))).toBe(false);
    await expect(custody.drive('DELETE', `/_sim/faults/${id}`)).rejects.toThrow(/404/);
  });

  test('never touch the paths by which the simulator is driven', async () => {
    await fault({ match: {}, fault: 'lost_answer' });
    expect(await list()).toMatchObject([{ hits: 0 }]);
    expect((await custody.truth()).requests).toEqual({});
  });

  test.each([
    [{ fault: 'explode' }, /must be one of lost_answer/],
    [{}, /must be one of/],
    [[], /JSON object/],
    [{ fault: 'status', status: 99 }, /200 to 599/],
    [{ fault: 'status', status: '503' }, /whole number/],
    [{ fault: 'slow' }, /needs ms/],
    [{ fault: 'delay' }, /needs ms/],
    [{ fault: 'wrong_amount' }, /needs amount/],
    [{ fault: 'slow', ms: 1, times: -1 }, /whole number/],
    [{ fault: 'slow', ms: 1, match: { url: 'x' } }, /match knows/],
    [{ fault: 'slow', ms: 1, match: { path: 7 } }, /must be text/],
    [{ fault: 'slow', ms: 1, match: { event_type: 'deposit.changed' } }, /fault on calls/],
    [{ fault: 'drop', match: { path: '/v1/x' } }, /fault on webhooks/],
  ])('that are told wrongly (%j) are refused, for a fault that is never met proves nothing', async (body, message) => {
    await expect(fault(body)).rejects.toThrow(message);
    expect(await list()).toEqual([]);
  });

  test('wrong_amount changes each amount of the answer and nothing at the custodian', async () => {
    const { address } = await custody.live.createAddress({ ...request('r1'), settleIn: 'USD' });
    const { id } = await custody.drive('POST', '/_sim/deposits', { address, amount: '25.00' });
    await fault({ match: { path: '/v1/deposits/*' }, fault: 'wrong_amount', amount: '9000.01', times: 1 });
    expect(await custody.live.readDeposit(id)).toMatchObject({
      amount: '9000.01',
      settlement: { amount: '9000.01' },
      confirmations: 19,
    });
    expect(await custody.live.readDeposit(id)).toMatchObject({ amount: '25.00' });
  });

  test('not_found hides what exists: a record as 404, a list as an empty one', async () => {
    const { address } = await custody.live.createAddress(request('r1'));
    const { id } = await custody.drive('POST', '/_sim/deposits', { address, amount: '1' });
    await fault({ match: {}, fault: 'not_found', times: 3 });
    await expect(custody.live.readDeposit(id)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await custody.live.readAddressByReference('r1')).toBeNull();
    expect((await custody.live.readDepositChanges({ after: null, limit: 10 })).items).toEqual([]);
    expect(await custody.live.readDeposit(id)).toMatchObject({ id });
  });

  test('reset forgets faults, things and counts', async () => {
    await fault({ match: {}, fault: 'drop' }).catch(() => null);
    await custody.live.createAddress(request('r1'));
    await custody.drive('POST', '/_sim/reset');
    expect(await custody.truth()).toEqual({
      effects: [],
      objects: { addresses: [], deposits: [], payouts: [] },
      webhooks: [],
      requests: {},
      open_transactions: { max: 0, at: null, measured: 0 },
    });
    expect(await list()).toEqual([]);
  });

  test('an unknown path of the driver is 404 and a broken body 400, each with words', async () => {
    await expect(custody.drive('POST', '/_sim/depositz', {})).rejects.toThrow(/404.*no such path/);
    const answer = await fetch(`${custody.url}/_sim/faults`, { method: 'POST', body: '{' });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'invalid_request', message: 'the body must be JSON' },
    ]);
  });
});

describe('The watch on open transactions', () => {
  const asked: number[] = [];
  let open: () => Promise<number> = async () => 0;
  let custody: SimulatedCustody;
  beforeAll(async () => {
    custody = await startSimulatedCustody({
      countOpenTransactions: (olderThanMs) => {
        asked.push(olderThanMs);
        return open();
      },
    });
  });
  afterAll(() => custody.close());
  beforeEach(async () => {
    asked.length = 0;
    open = async () => 0;
    await custody.drive('POST', '/_sim/reset');
  });
  const slowRead = async (ms: number) => {
    await custody.drive('POST', '/_sim/faults', { match: { method: 'GET' }, fault: 'slow', ms, times: 1 });
    await custody.live.readAddressByReference('r1');
  };

  test('asks, when a request was held for 300 ms or more, for transactions older than that', async () => {
    await slowRead(350);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBeGreaterThanOrEqual(300);
    expect((await custody.truth()).open_transactions).toEqual({ max: 0, at: null, measured: 1 });
  });

  test('asks nothing for a request that was answered at once', async () => {
    await custody.live.readAddressByReference('r1');
    expect(asked).toEqual([]);
    expect((await custody.truth()).open_transactions).toMatchObject({ measured: 0 });
  });

  test('keeps the most it saw and when', async () => {
    for (const count of [2, 5, 1]) {
      open = async () => count;
      await slowRead(350);
    }
    expect((await custody.truth()).open_transactions).toMatchObject({ max: 5, at: expect.any(String), measured: 3 });
  });

  test('looks at a request that was never answered, too', async () => {
    open = async () => 1;
    await custody.drive('POST', '/_sim/faults', { match: { method: 'GET' }, fault: 'timeout_before', times: 1 });
    await expect(custody.live.readAddressByReference('r1')).rejects.toMatchObject({ kind: 'unavailable' });
    const seen = await eventually(async () => {
      const { open_transactions } = await custody.truth();
      return open_transactions.measured > 0 && open_transactions;
    });
    expect(seen).toMatchObject({ max: 1, measured: 1 });
  });

  test('counts nothing while the database cannot be asked', async () => {
    open = () => Promise.reject(new Error('gone'));
    await slowRead(350);
    expect((await custody.truth()).open_transactions).toMatchObject({ max: 0, measured: 0 });
  });
});
