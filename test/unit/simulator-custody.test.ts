import { type SimulatedCustody, startSimulatedCustody } from '../support/simulated-custody.js';

const tron = (reference: string, settleIn: string | null = null) => ({
  reference,
  network: 'tron',
  asset: 'USDT-TRC20',
  settleIn,
});

/** A call of the wire as it is, without our client. */
async function wire(
  custody: SimulatedCustody,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${custody.url}${path}`, { headers: { authorization: 'Bearer live-key' }, ...init });
  return { status: answer.status, body: await answer.json() };
}

describe('The simulated custodian', () => {
  let custody: SimulatedCustody;
  beforeAll(async () => {
    custody = await startSimulatedCustody();
  });
  afterAll(() => custody.close());
  beforeEach(() => custody.drive('POST', '/_sim/reset'));

  test('answers 201 to a new reference and 200 with the same address to a known one', async () => {
    const body = JSON.stringify({ reference: 'r1', network: 'bitcoin', asset: 'BTC', settle_in: null });
    const first = await wire(custody, '/v1/addresses', { method: 'POST', body });
    const second = await wire(custody, '/v1/addresses', { method: 'POST', body });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual(first.body);
  });

  test.each([
    ['ethereum', 'ETH', /^0x[0-9a-f]{40}$/, /^0x[0-9a-f]{40}$/],
    ['ethereum', 'USDC-ETH', /^0x[0-9a-f]{40}$/, /^0x[0-9a-f]{40}$/],
    ['tron', 'USDT-TRC20', /^T[1-9A-HJ-NP-Za-km-z]{33}$/, /^T[1-9A-HJ-NP-Za-km-z]{33}$/],
    ['bitcoin', 'BTC', /^bc1q[02-9ac-hj-np-z]{38}$/, /^tb1q[02-9ac-hj-np-z]{38}$/],
  ])(
    'makes addresses on %s for %s that look like ones of their network and book',
    async (network, asset, live, test) => {
      const request = { reference: 'r1', network, asset, settleIn: null };
      const ours = await custody.live.createAddress(request);
      expect(ours.address).toMatch(live);
      const other = await custody.test.createAddress(request);
      expect(other.address).toMatch(test);
      expect(other.address).not.toBe(ours.address);
    },
  );

  test('makes the same address again for a reference after it forgot everything', async () => {
    const first = await custody.live.createAddress(tron('r1'));
    await custody.drive('POST', '/_sim/reset');
    expect(await custody.live.readAddressByReference('r1')).toBeNull();
    expect(await custody.live.createAddress(tron('r1'))).toEqual(first);
  });

  test.each([
    ['{"network":"tron","asset":"USDT-TRC20"}', 'invalid_request'],
    ['{"reference":"r","network":"dogecoin","asset":"DOGE"}', 'network_not_supported'],
    ['{"reference":"r","network":"tron","asset":"BTC"}', 'asset_not_supported'],
    ['{"reference":"r","network":"tron","asset":"USDT-TRC20","settle_in":"usd"}', 'invalid_request'],
    ['[]', 'invalid_request'],
    ['oops', 'invalid_request'],
  ])('refuses %s with 400 %s', async (body, error) => {
    const answer = await wire(custody, '/v1/addresses', { method: 'POST', body });
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });

  test.each([undefined, 'Bearer', 'Bearer x', 'Basic live-key', 'live-key'])(
    'answers 401 to the key %p',
    async (authorization) => {
      const headers = authorization === undefined ? {} : { authorization };
      for (const path of ['/v1/balances', '/v1/deposits/changes', '/v1/deposits/x', '/v1/addresses?reference=r']) {
        expect(await wire(custody, path, { headers })).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
      }
    },
  );

  test('shows nothing of one account to the key of another, and tells only the owner of a deposit', async () => {
    const { address } = await custody.test.createAddress(tron('r1'));
    const { id } = await custody.drive('POST', '/_sim/deposits', { address, amount: '5' });
    expect(await custody.test.readDeposit(id)).toMatchObject({ id });
    await expect(custody.live.readDeposit(id)).rejects.toMatchObject({ kind: 'not_found' });
    expect((await custody.live.readDepositChanges({ after: null, limit: 10 })).items).toEqual([]);
    expect(await custody.live.readAddressByReference('r1')).toBeNull();
    expect(custody.liveHooks.received).toEqual([]);
  });

  test('fills in what a deposit does not say', async () => {
    const { address } = await custody.live.createAddress(tron('r1'));
    const deposit = await custody.drive('POST', '/_sim/deposits', { address, amount: '25.00' });
    expect(deposit).toMatchObject({
      address,
      tag: null,
      network: 'tron',
      asset: 'USDT-TRC20',
      tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      output_index: 0,
      amount: '25.00',
      confirmations: 19,
      required_confirmations: 19,
      status: 'completed',
      settlement: null,
      replaced_by: null,
    });
  });

  test.each([
    [{ status: 'seen' }, { status: 'seen', confirmations: 0 }],
    [{ status: 'confirming' }, { status: 'confirming', confirmations: 1 }],
    [{ confirmations: 0 }, { status: 'seen', confirmations: 0 }],
    [{ confirmations: 5 }, { status: 'confirming', confirmations: 5 }],
    [{ confirmations: 19 }, { status: 'completed', confirmations: 19 }],
    [
      { status: 'completed', confirmations: 2 },
      { status: 'completed', confirmations: 2 },
    ],
    [{ status: 'reversed' }, { status: 'reversed' }],
    [
      { tx_hash: null, output_index: null },
      { tx_hash: null, output_index: null },
    ],
    [{ tag: 'memo' }, { tag: 'memo' }],
  ])('takes %j as said', async (members, expected) => {
    const { address } = await custody.live.createAddress(tron('r1'));
    expect(await custody.drive('POST', '/_sim/deposits', { address, amount: '1', ...members })).toMatchObject(expected);
  });

  test('settles one token for one unit, rounded down, and at the latest with completed', async () => {
    const { address } = await custody.live.createAddress(tron('r1', 'USD'));
    const deposit = await custody.drive('POST', '/_sim/deposits', {
      address,
      amount: '25.009999',
      status: 'confirming',
    });
    expect(deposit.settlement).toBeNull();
    const done = await custody.drive('PATCH', `/_sim/deposits/${deposit.id}`, { status: 'completed' });
    expect(done).toMatchObject({ confirmations: 19, settlement: { asset: 'USD', amount: '25.00' } });
    const yen = await custody.live.createAddress(tron('r2', 'JPY'));
    const other = await custody.drive('POST', '/_sim/deposits', { address: yen.address, amount: '25.9' });
    expect(other.settlement).toEqual({ asset: 'JPY', amount: '25' });
  });

  test('leaves a settlement out when it is told to, and takes one that is given', async () => {
    const { address } = await custody.live.createAddress(tron('r1', 'USD'));
    const bare = await custody.drive('POST', '/_sim/deposits', { address, amount: '5', settlement: null });
    expect(bare).toMatchObject({ status: 'completed', settlement: null });
    const settlement = { asset: 'USD', amount: '4.97' };
    expect(await custody.drive('PATCH', `/_sim/deposits/${bare.id}`, { settlement })).toMatchObject({ settlement });
  });

  test('lets a deposit arrive at an address that nobody made', async () => {
    const body = { address: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', amount: '5' };
    const first = await custody.drive('POST', '/_sim/deposits', body);
    expect(first).toMatchObject({ network: 'tron', asset: 'USDT-TRC20' });
    expect(await custody.live.readDeposit(first.id)).toMatchObject({ id: first.id });
    const second = await custody.drive('POST', '/_sim/deposits', { ...body, book: 'test' });
    expect(await custody.test.readDeposit(second.id)).toMatchObject({ id: second.id });
    await expect(custody.drive('POST', '/_sim/deposits', { address: 'nowhere', amount: '5' })).rejects.toThrow(
      /network/,
    );
  });

  test.each([{}, { address: 'T' }, { amount: '5' }, { address: 'T', amount: '5', colour: 'red' }, []])(
    'refuses the deposit %j and says why',
    async (body) => {
      await expect(custody.drive('POST', '/_sim/deposits', body)).rejects.toThrow(/400/);
    },
  );

  test('pages changes by an opaque cursor and shows a changed deposit again at the end', async () => {
    const { address } = await custody.live.createAddress(tron('r1'));
    const ids: string[] = [];
    for (let n = 1; n <= 5; n += 1) {
      ids.push((await custody.drive('POST', '/_sim/deposits', { address, amount: `${n}`, status: 'seen' })).id);
    }
    const read = async (after: string | null, limit = 2) => {
      const page = await custody.live.readDepositChanges({ after, limit });
      return { ...page, ids: page.items.map((item) => (item.ok ? item.record.id : null)) };
    };
    const first = await read(null);
    expect(first).toMatchObject({ ids: ids.slice(0, 2), hasMore: true });
    await custody.drive('PATCH', `/_sim/deposits/${ids[0]}`, { status: 'completed' });
    const second = await read(first.nextCursor);
    expect(second).toMatchObject({ ids: ids.slice(2, 4), hasMore: true });
    const third = await read(second.nextCursor);
    expect(third).toMatchObject({ ids: [ids[4], ids[0]], hasMore: false });
    expect(third.items.at(-1)).toMatchObject({ record: { status: 'completed' } });
    expect(await read(third.nextCursor)).toMatchObject({ ids: [], hasMore: false, nextCursor: third.nextCursor });
    expect((await read(null, 200)).ids).toEqual([...ids.slice(1), ids[0]]);
  });

  test('keeps an old cursor good after it forgot everything: what comes later is behind it', async () => {
    const { address } = await custody.live.createAddress(tron('r1'));
    await custody.drive('POST', '/_sim/deposits', { address, amount: '1' });
    const { nextCursor } = await custody.live.readDepositChanges({ after: null, limit: 200 });
    await custody.drive('POST', '/_sim/reset');
    const { id } = await custody.drive('POST', '/_sim/deposits', { address, amount: '2' });
    const later = await custody.live.readDepositChanges({ after: nextCursor, limit: 200 });
    expect(later.items).toMatchObject([{ ok: true, record: { id } }]);
  });

  test.each(['limit=0', 'limit=201', 'limit=x', 'limit=1.5', 'after=%20', 'after=YzEuLTE', 'after=bm9uZQ'])(
    'refuses changes with %s',
    async (query) => {
      expect(await wire(custody, `/v1/deposits/changes?${query}`)).toMatchObject({ status: 400 });
    },
  );

  test('neither tells nor shows again a change that changes nothing', async () => {
    const { address } = await custody.live.createAddress(tron('r1'));
    const { id } = await custody.drive('POST', '/_sim/deposits', { address, amount: '1' });
    const { nextCursor } = await custody.live.readDepositChanges({ after: null, limit: 200 });
    await custody.drive('PATCH', `/_sim/deposits/${id}`, { status: 'completed' });
    expect((await custody.live.readDepositChanges({ after: nextCursor, limit: 200 })).items).toEqual([]);
    expect((await custody.truth()).webhooks).toHaveLength(1);
  });

  test('pays each time it is asked, shows a payout after a while, and leaves it to whoever changes it', async () => {
    const body = JSON.stringify({
      reference: 'w1',
      network: 'tron',
      asset: 'USDT-TRC20',
      address: 'T9',
      tag: null,
      amount: '5',
    });
    const paid = [1, 2].map(() => wire(custody, '/v1/payouts', { method: 'POST', body }));
    const answers = await Promise.all(paid);
    expect(answers).toMatchObject([
      { status: 202, body: { status: 'queued', tx_hash: null, fee: null } },
      { status: 202 },
    ]);
    const { effects, objects } = await custody.truth();
    expect(effects.map(({ kind, reference }) => [kind, reference])).toEqual([
      ['payout', 'w1'],
      ['payout', 'w1'],
    ]);
    const id = objects.payouts?.[0]?.id;
    await custody.drive('PATCH', `/_sim/payouts/${id}`, { status: 'completed', tx_hash: 'ab12' });
    expect(await wire(custody, '/v1/transfers/ab12')).toEqual({
      status: 200,
      body: {
        tx_hash: 'ab12',
        network: 'tron',
        asset: 'USDT-TRC20',
        to: 'T9',
        tag: null,
        amount: '5',
        status: 'completed',
      },
    });
  });

  test('sums balances from deposits and payouts', async () => {
    const { address } = await custody.live.createAddress(tron('r1'));
    await custody.drive('POST', '/_sim/deposits', { address, amount: '7.5' });
    await custody.drive('POST', '/_sim/deposits', { address, amount: '0.000001', status: 'seen' });
    await custody.drive('POST', '/_sim/deposits', { address, amount: '99', status: 'failed' });
    const body = JSON.stringify({
      reference: 'w1',
      network: 'tron',
      asset: 'USDT-TRC20',
      address: 'T9',
      amount: '2.25',
    });
    await wire(custody, '/v1/payouts', { method: 'POST', body });
    expect(await wire(custody, '/v1/balances')).toEqual({
      status: 200,
      body: { items: [{ asset: 'USDT-TRC20', available: '5.25', pending: '0.000001' }] },
    });
  });
});
