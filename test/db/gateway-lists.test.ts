import { inTransaction } from '../../src/db/transaction.js';
import { makeMerchant, openTestGateway, type TestGateway, type TestMerchant } from '../support/gateway.js';
import { makeAddress, makeCustomer, makeDeposit } from '../support/gateway-rows.js';

let gateway: TestGateway;
let merchant: TestMerchant;
let addressId: string;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(async () => gateway?.close());
beforeEach(async () => {
  merchant = await makeMerchant(gateway.tx);
  addressId = await makeAddress(gateway.tx, { merchantId: merchant.id, state: 'active' });
});

interface Page {
  readonly data: readonly { id: string; created_at: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

async function list(path: string): Promise<Page> {
  const answer = await gateway.call('GET', path, { key: merchant.keys.live });
  expect(answer.status).toBe(200);
  return answer.json as unknown as Page;
}

/** Every id of a list, page by page. */
async function all(path: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await list(
      `${path}&${cursor === '' ? '' : `cursor=${encodeURIComponent(cursor)}`}`.replace(/&$/, ''),
    );
    expect(page.has_more).toBe(page.next_cursor !== null);
    ids.push(...page.data.map((item) => item.id));
    cursor = page.next_cursor;
  }
  return ids;
}

const deposit = (of: object = {}) => makeDeposit(gateway.tx, { merchantId: merchant.id, addressId, ...of });
const idsOf = (page: Page) => page.data.map((item) => item.id);

test('a list is read page by page, newest first, each object once, also while new ones come', async () => {
  const made: string[] = [];
  for (let i = 0; i < 7; i += 1) made.unshift(await deposit());
  expect(await all('/v1/deposits?limit=3')).toEqual(made);
  expect(await all('/v1/deposits?limit=7')).toEqual(made);

  const first = await list('/v1/deposits?limit=3');
  const late = await deposit();
  const second = await list(`/v1/deposits?limit=100&cursor=${first.next_cursor}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(made);
  expect(idsOf(await list('/v1/deposits?limit=1'))).toEqual([late]);
});

test('objects of the same microsecond are neither lost nor shown twice between two pages', async () => {
  const ids = [];
  for (let i = 0; i < 5; i += 1) ids.push(await deposit());
  await inTransaction(gateway.owner, async (tx) => {
    await tx.query('alter table sverka.deposit disable trigger guard_move');
    await tx.query(`update sverka.deposit set created_at = '2026-01-02T03:04:05.678901Z' where merchant_id = $1`, [
      merchant.id,
    ]);
    await tx.query('alter table sverka.deposit enable always trigger guard_move');
  });
  expect(await all('/v1/deposits?limit=2')).toEqual(ids.sort().reverse());
});

test('twenty are shown where no limit is named', async () => {
  for (let i = 0; i < 21; i += 1) await deposit();
  const page = await list('/v1/deposits');
  expect([page.data.length, page.has_more]).toEqual([20, true]);
});

test('an empty list has no cursor', async () => {
  expect(await list('/v1/deposits')).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
});

test('filters narrow, repeated ones are OR, different ones are AND', async () => {
  const customerId = await makeCustomer(gateway.tx, { merchantId: merchant.id }, 'player-7');
  const theirs = await makeAddress(gateway.tx, {
    merchantId: merchant.id,
    customerId,
    network: 'bitcoin',
    asset: 'BTC',
  });
  const bitcoin = { addressId: theirs, customerId, network: 'bitcoin', asset: 'BTC', hash: 'b1' };
  const [a, b, c] = [
    await deposit({ hash: 'a1' }),
    await deposit({ state: 'confirming', hash: 'a2' }),
    await deposit(bitcoin),
  ];
  const cases: [string, string[]][] = [
    ['state=noticed', [c, a]],
    ['state=noticed&state=confirming', [c, b, a]],
    ['state=final', []],
    ['network=bitcoin', [c]],
    ['asset=USDT-TRC20', [b, a]],
    ['customer_ref=player-7', [c]],
    ['customer_ref=nobody', []],
    ['hash=a1&hash=b1', [c, a]],
    [`deposit_address_id=${theirs}`, [c]],
    [`deposit_address_id=${addressId}&state=confirming`, [b]],
  ];
  for (const [query, ids] of cases) expect([query, idsOf(await list(`/v1/deposits?${query}`))]).toEqual([query, ids]);
  expect(idsOf(await list('/v1/deposit-addresses?network=bitcoin&state=preparing&customer_ref=player-7'))).toEqual([
    theirs,
  ]);
  expect(idsOf(await list('/v1/deposit-addresses?asset=USDT-TRC20&state=active'))).toEqual([addressId]);
});

test('created_from is inclusive and created_to exclusive, to the microsecond', async () => {
  const id = await deposit();
  const [row] = await gateway.tx.query<{ at: string }>(
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
       from sverka.deposit where id = $1`,
    [id],
  );
  expect(idsOf(await list(`/v1/deposits?created_from=${row?.at}`))).toEqual([id]);
  expect(idsOf(await list(`/v1/deposits?created_to=${row?.at}`))).toEqual([]);
  const zone = encodeURIComponent('2020-01-01T02:00:00+02:00');
  expect(idsOf(await list(`/v1/deposits?created_from=${zone}&created_to=2100-01-01T00:00:00Z`))).toEqual([id]);
});

test.each([
  '0000-01-01T00:00:00.000Z',
  '0000-12-31T00:00:00.000Z',
  '0001-01-01T00:00:00.000%2B23:59',
  '9999-12-31T23:59:59.000-23:59',
])('a time that no calendar of ours has, %s, is refused where it stands', async (time) => {
  for (const name of ['movements', 'deposits', 'deposit-addresses']) {
    const answer = await gateway.call('GET', `/v1/${name}?created_from=${time}`, { key: merchant.keys.live });
    expect([answer.status, answer.json.code]).toEqual([400, 'validation']);
    expect(answer.json.errors).toMatchObject([{ pointer: '?created_from' }]);
  }
});

describe('a cursor', () => {
  let cursor: string;
  beforeEach(async () => {
    for (let i = 0; i < 3; i += 1) await deposit();
    cursor = (await list('/v1/deposits?limit=1&state=noticed')).next_cursor ?? '';
  });

  test('may be used with another limit, and with its filters in another order', async () => {
    expect((await list(`/v1/deposits?limit=2&state=noticed&cursor=${cursor}`)).data).toHaveLength(2);
    const both = await list('/v1/deposits?limit=1&state=noticed&state=confirming');
    expect((await list(`/v1/deposits?state=confirming&state=noticed&cursor=${both.next_cursor}`)).data).toHaveLength(2);
  });

  test('is refused with other filters, at another list, by another merchant or book, or when forged', async () => {
    const other = await makeMerchant(gateway.tx);
    const { live, test: ofTest } = merchant.keys;
    const cases = [
      [live, `/v1/deposits?cursor=${cursor}`],
      [live, `/v1/deposits?state=final&cursor=${cursor}`],
      [live, `/v1/deposits?state=noticed&created_from=2026-01-01T00:00:00Z&cursor=${cursor}`],
      [live, `/v1/deposit-addresses?cursor=${cursor}`],
      [live, `/v1/movements?cursor=${cursor}`],
      [ofTest, `/v1/deposits?state=noticed&cursor=${cursor}`],
      [other.keys.live, `/v1/deposits?state=noticed&cursor=${cursor}`],
      [live, `/v1/deposits?state=noticed&cursor=${cursor}A`],
      [live, '/v1/deposits?state=noticed&cursor=1'],
      [live, '/v1/deposits?state=noticed&cursor='],
    ] as const;
    for (const [key, path] of cases) {
      const answer = await gateway.call('GET', path, { key });
      expect([path, answer.status, answer.json.code]).toEqual([path, 400, 'invalid_cursor']);
    }
  });
});
