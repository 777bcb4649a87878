import {
  type PertItem,
  parsePertPage,
  parsePertSnapshot,
  parsePertTransaction,
} from '../../src/providers/pert/schema.js';
import { readStrictJson } from '../../src/providers/strict-json.js';
import { CANARY_CARD } from '../support/deposit-world.js';

const SIDE = { address: 'w-1', amount: '1.50', balance: '98.5' };
const WIRE: Readonly<Record<string, unknown>> = {
  id: 'ptx_1',
  status: 'completed',
  currency: 'USDT',
  balance_version: 7,
  from: SIDE,
  to: null,
  created_at: '2026-11-29T10:15:30.123Z',
};

/** As it comes from the wire: numbers are read from text, never through a double. */
function read(text: string): unknown {
  const json = readStrictJson(Buffer.from(text));
  if (!json.ok) throw new Error(`the test's own JSON is ${json.reason}`);
  return json.value;
}
const wire = (changes: Readonly<Record<string, unknown>> = {}) => JSON.stringify({ ...WIRE, ...changes });
const transaction = (changes: Readonly<Record<string, unknown>> = {}) => parsePertTransaction(read(wire(changes)));
/** With a bare number of any size in place of a member's value. */
const withNumber = (member: string, number: string) =>
  wire().replace(new RegExp(`("${member}"):[^,}]+`), `$1:${number}`);

describe('A transaction', () => {
  test('is read with its amounts as reported and its version as a whole number', () => {
    expect(transaction()).toEqual({
      ok: true,
      record: {
        id: 'ptx_1',
        status: 'completed',
        currency: 'USDT',
        balanceVersion: 7n,
        from: SIDE,
        to: null,
        createdAt: '2026-11-29T10:15:30.123Z',
      },
    });
  });

  test.each(['0', '9007199254740993', '18446744073709551615', '12345678901234567890', '9'.repeat(38)])(
    'keeps the version %s to the last digit, as a bare number and as a string',
    (digits) => {
      const record = { balanceVersion: BigInt(digits) };
      expect(parsePertTransaction(read(withNumber('balance_version', digits)))).toMatchObject({ ok: true, record });
      expect(transaction({ balance_version: digits })).toMatchObject({ ok: true, record });
    },
  );

  test.each(['-1', '1.5', '01', '', ' 1', '1_0', '0x1', 'NaN', '9'.repeat(39), null, true, [1]])(
    'with the version %p is refused',
    (balance_version) => {
      const reason = 'balance_version: not a whole number in range';
      expect(transaction({ balance_version })).toEqual({ ok: false, reason });
    },
  );

  test.each(['-1', '1.5', '1e-1', '1e400', '9'.repeat(39)])('with the bare version %s is refused', (number) => {
    expect(parsePertTransaction(read(withNumber('balance_version', number)))).toMatchObject({ ok: false });
  });

  test.each([
    ['9007199254740993', '9007199254740993'],
    ['12345678901234567890.123456789012345678', '12345678901234567890.123456789012345678'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['25.00', '25.00'],
    ['0', '0'],
    ['1e3', '1000'],
    ['1.5E+2', '150'],
    ['1.2345e2', '123.45'],
    ['1e-7', '0.0000001'],
    ['0.1e1', '1'],
    ['0e5', '0'],
  ])('takes the bare number %s for the amount %s', (number, amount) => {
    const parsed = parsePertTransaction(read(withNumber('amount', number)));
    expect(parsed).toMatchObject({ ok: true, record: { from: { amount, balance: '98.5' } } });
    expect(parsePertTransaction(read(withNumber('balance', number)))).toMatchObject({
      record: { from: { balance: amount } },
    });
  });

  test.each(['-1', '-0', '-0.0', '1e999', '1e60', '1e-61', '9'.repeat(61), '1e1000000000', '1e99999'])(
    'with the bare number %s for an amount is refused',
    (number) => {
      const reason = 'from.amount: not a decimal';
      expect(parsePertTransaction(read(withNumber('amount', number)))).toEqual({ ok: false, reason });
    },
  );

  test.each(['', '+1', '-1', '-0', '1e5', '1E5', '.5', '5.', '01', ' 1', '1 ', '1,5', '0x10', 'NaN', '1'.repeat(61)])(
    'with the string %p for a balance is refused, by the name of the member alone',
    (balance) => {
      const reason = 'from.balance: not a decimal';
      expect(transaction({ from: { ...SIDE, balance } })).toEqual({ ok: false, reason });
    },
  );

  test('may have one address on both sides, any word for its status, and members that we do not know', () => {
    const parsed = transaction({ to: SIDE, status: 'reversed?', fee: { deep: [1] } });
    expect(parsed).toMatchObject({ ok: true, record: { from: SIDE, to: SIDE, status: 'reversed?' } });
    expect(parsed.ok && Object.keys(parsed.record)).not.toContain('fee');
  });

  test.each(Object.keys(WIRE))('without %s is refused: absence is not null', (member) => {
    const { [member]: _left, ...rest } = WIRE;
    expect(parsePertTransaction(read(JSON.stringify(rest)))).toMatchObject({
      ok: false,
      reason: expect.stringContaining(member),
    });
  });

  test.each(['address', 'amount', 'balance'])('without %s of a side is refused [CASES D08]', (member) => {
    const { [member as 'amount']: _left, ...side } = SIDE;
    for (const name of ['from', 'to']) {
      expect(transaction({ [name]: side })).toMatchObject({
        ok: false,
        reason: expect.stringContaining(`${name}.${member}`),
      });
    }
  });

  test.each([
    ['id', ''],
    ['id', 'a b'],
    ['id', '..'],
    ['id', 7],
    ['status', null],
    ['status', ''],
    ['currency', 7],
    ['currency', 'U\u0000'],
    ['from', 'w-1'],
    ['from', 7],
    ['to', true],
    ['from', { ...SIDE, address: '' }],
    ['to', { ...SIDE, address: 'a'.repeat(257) }],
    ['created_at', 'yesterday'],
    ['created_at', '2026-13-29T10:15:30Z'],
    ['created_at', 1_795_947_330],
  ])('with %s %p is refused and named', (member, value) => {
    expect(transaction({ [member]: value })).toMatchObject({ ok: false, reason: expect.stringContaining(member) });
  });

  test.each(['id', 'status', 'currency'])('with a card number in its %s is not usable', (member) => {
    for (const value of [`x${CANARY_CARD}`, `x${'*'.repeat(12)}4242`]) {
      expect(transaction({ [member]: value })).toEqual({ ok: false, reason: `${member}: holds a card number` });
      const reason = 'to.address: holds a card number';
      expect(transaction({ to: { ...SIDE, address: value } })).toEqual({ ok: false, reason });
    }
  });

  test.each(['null', '[]', '"x"', '7', 'true'])('that is %s is refused', (text) => {
    expect(parsePertTransaction(read(text))).toMatchObject({ ok: false });
  });

  test('does not take what stands in its prototype for its own', () => {
    expect(parsePertTransaction(read(`{"__proto__":${wire()}}`))).toMatchObject({ ok: false });
    expect(parsePertTransaction(read(`{"__proto__":{"id":"evil"},${wire().slice(1)}`))).toMatchObject({
      ok: true,
      record: { id: 'ptx_1' },
    });
  });
});

describe('A page of changes', () => {
  const page = (members: Readonly<Record<string, unknown>>) => parsePertPage(read(JSON.stringify(members)));
  const itemsOf = (parsed: ReturnType<typeof parsePertPage>): readonly PertItem[] =>
    parsed.ok ? parsed.record.items : [];

  test('gives each good item although others are bad, and of the bad ones what is needed to read them again', () => {
    const { balance: _left, ...noBalance } = SIDE;
    const items = [WIRE, { ...WIRE, id: 'ptx_2' }, { ...WIRE, id: 'ptx_3', from: noBalance }, 7, { ...WIRE, id: '' }];
    const parsed = page({ items, next_cursor: 'c9', has_more: true });
    expect(parsed).toMatchObject({ ok: true, record: { nextCursor: 'c9', hasMore: true } });
    expect(itemsOf(parsed)).toMatchObject([
      { ok: true, transaction: { id: 'ptx_1' } },
      { ok: true, transaction: { id: 'ptx_2' } },
      { ok: false, id: 'ptx_3', reason: 'from.balance: not a decimal', raw: JSON.stringify(items[2]) },
      { ok: false, id: null, reason: 'id: not an id', raw: '7' },
      { ok: false, id: null, reason: 'id: not an id' },
    ]);
  });

  test('keeps the numbers of a bad item to the last digit, also one that passes for a card number', () => {
    // 17 digits with a right check digit.
    const version = '90071992547409931';
    const text = withNumber('balance_version', version).replace('"balance":"98.5"', '"balance":-1');
    const [item] = itemsOf(parsePertPage(read(`{"items":[${text}],"next_cursor":"c","has_more":false}`)));
    expect(item).toMatchObject({ ok: false, reason: 'from.balance: not a decimal' });
    const raw = item && !item.ok ? item.raw : '';
    expect(raw).toContain(`"balance_version":${version}`);
    const mended = parsePertTransaction(read(raw.replace('"balance":-1', '"balance":1')));
    expect(mended).toMatchObject({ ok: true, record: { balanceVersion: BigInt(version) } });
  });

  test('keeps no card number and no security code of a bad item, and a bounded part of it', () => {
    const items = [{ ...WIRE, id: CANARY_CARD, pan: CANARY_CARD, cvv: 123, note: `card ${CANARY_CARD}` }];
    const [item] = itemsOf(page({ items, next_cursor: 'c', has_more: false }));
    expect(item).toMatchObject({ ok: false, id: null, reason: 'id: holds a card number' });
    expect(JSON.stringify(item)).not.toContain(CANARY_CARD);
    expect(JSON.stringify(item)).not.toContain('123}');
    const long = itemsOf(page({ items: [{ x: 'y'.repeat(100_000) }], next_cursor: 'c', has_more: false }));
    expect(long[0] && !long[0].ok && long[0].raw.length).toBe(16_384);
  });

  test.each([[{}], [{ next_cursor: null }], [{ next_cursor: '' }]])(
    'that ends with %j for a cursor names none [R3, CASES D06]',
    (members) => {
      for (const has_more of [true, false]) {
        expect(page({ items: [WIRE], has_more, ...members })).toMatchObject({
          ok: true,
          record: { items: [{ ok: true }], nextCursor: null, hasMore: has_more },
        });
      }
    },
  );

  test.each([
    ['no items', { next_cursor: 'c', has_more: false }],
    ['items that are no list', { items: {}, next_cursor: 'c', has_more: false }],
    ['more items than any page has', { items: Array(1_001).fill(1), next_cursor: 'c', has_more: false }],
    ['no has_more', { items: [], next_cursor: 'c' }],
    ['a has_more of another type', { items: [], next_cursor: 'c', has_more: 'false' }],
    ['a has_more that is null', { items: [], next_cursor: 'c', has_more: null }],
    ['a cursor that is a number', { items: [], next_cursor: 7, has_more: true }],
    ['a cursor that PostgreSQL cannot keep', { items: [], next_cursor: 'a\u0000', has_more: true }],
    ['an endless cursor', { items: [], next_cursor: 'c'.repeat(1_025), has_more: true }],
  ])('with %s is refused as a whole', (_name, members) => {
    expect(page(members)).toMatchObject({ ok: false });
  });
});

describe('A snapshot', () => {
  const USD = { currency: 'USD', balance: '10.00', frozen: '1', held: '2', available: '7' };
  const snapshot = (changes: Readonly<Record<string, unknown>> = {}) =>
    JSON.stringify({ cursor: 'c5', min_cursor: 'c1', currency_balances: [USD], ...changes });

  test('is read with each part as stated, also where the parts do not add up', () => {
    const odd = { ...USD, currency: 'EUR', available: '99' };
    expect(parsePertSnapshot(read(snapshot({ currency_balances: [USD, odd] })))).toEqual({
      ok: true,
      record: { cursor: 'c5', minCursor: 'c1', currencies: [USD, odd] },
    });
    expect(parsePertSnapshot(read(snapshot({ currency_balances: [] })))).toMatchObject({ record: { currencies: [] } });
  });

  test('keeps bare numbers beyond 2^53', () => {
    const text = snapshot().replace('"10.00"', '9007199254740993.000000000000000001');
    expect(parsePertSnapshot(read(text))).toMatchObject({
      ok: true,
      record: { currencies: [{ balance: '9007199254740993.000000000000000001' }] },
    });
  });

  test('with a currency twice is refused, also when both say the same', () => {
    const reason = 'currency_balances: a currency stands twice';
    expect(parsePertSnapshot(read(snapshot({ currency_balances: [USD, USD] })))).toEqual({ ok: false, reason });
  });

  test.each([
    [{ cursor: '' }],
    [{ cursor: null }],
    [{ cursor: 5 }],
    [{ min_cursor: undefined }],
    [{ min_cursor: '' }],
    [{ currency_balances: null }],
    [{ currency_balances: {} }],
    [{ currency_balances: [null] }],
    [{ currency_balances: [{ ...USD, balance: '-1' }] }],
    [{ currency_balances: [{ ...USD, held: undefined }] }],
    [{ currency_balances: [{ ...USD, available: -1 }] }],
    [{ currency_balances: [{ ...USD, currency: CANARY_CARD }] }],
  ])('with %j is refused', (changes) => {
    expect(parsePertSnapshot(read(snapshot(changes)))).toMatchObject({ ok: false });
  });
});
