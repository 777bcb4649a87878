import { parseCustodyDeposit, parseCustodyDepositPage } from '../../src/providers/custody/schema.js';
import { readStrictJson } from '../../src/providers/strict-json.js';
import { CANARY_CARD } from '../support/deposit-world.js';

const WIRE: Readonly<Record<string, unknown>> = {
  id: 'd1',
  address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  tag: null,
  network: 'tron',
  asset: 'USDT-TRC20',
  tx_hash: '9f3c',
  output_index: 0,
  amount: '25.000001',
  confirmations: 19,
  required_confirmations: 19,
  status: 'completed',
  settlement: { asset: 'USD', amount: '25.00' },
  replaced_by: null,
  updated_at: '2026-11-29T10:15:30.123Z',
};

/** As it comes from the wire: numbers are read from text, never through a double. */
function read(text: string): unknown {
  const json = readStrictJson(Buffer.from(text));
  if (!json.ok) throw new Error(`the test's own JSON is ${json.reason}`);
  return json.value;
}
function deposit(changes: Readonly<Record<string, unknown>> = {}) {
  return parseCustodyDeposit(read(JSON.stringify({ ...WIRE, ...changes })));
}

describe('A deposit record', () => {
  test('is read with its amounts exactly as reported [CASES L15]', () => {
    expect(deposit()).toEqual({
      ok: true,
      record: {
        id: 'd1',
        address: WIRE.address,
        tag: null,
        network: 'tron',
        asset: 'USDT-TRC20',
        txHash: '9f3c',
        outputIndex: 0,
        amount: '25.000001',
        confirmations: 19,
        requiredConfirmations: 19,
        status: 'completed',
        providerStatus: 'completed',
        settlement: { asset: 'USD', amount: '25.00' },
        replacedBy: null,
        updatedAt: '2026-11-29T10:15:30.123Z',
      },
    });
  });

  test.each(['id', 'tx_hash', 'status', 'asset'])('with a card number in its %s is not usable', (member) => {
    const reason = `${member}: holds a card number`;
    expect(deposit({ [member]: `x${CANARY_CARD}` })).toEqual({ ok: false, reason });
    const page = parseCustodyDepositPage(
      read(JSON.stringify({ items: [{ ...WIRE, id: CANARY_CARD }], has_more: false })),
    );
    expect(page).toMatchObject({ record: { items: [{ ok: false, id: null, reason: 'id: holds a card number' }] } });
  });

  test('may have a hash of any digits, and an amount that looks like a card number', () => {
    for (const tx_hash of [`${CANARY_CARD}a`.padEnd(64, '0'), `0x${CANARY_CARD.padEnd(64, 'f')}`]) {
      expect(deposit({ tx_hash, amount: CANARY_CARD })).toMatchObject({ ok: true, record: { txHash: tx_hash } });
    }
  });

  test('keeps an amount of any length to the last digit', () => {
    for (const amount of ['12345678901234567890.123456789012345678', '0.000000000000000001', '0', '0.00']) {
      expect(deposit({ amount })).toMatchObject({ ok: true, record: { amount } });
    }
  });

  test('may have members that we do not know, also one that would be a prototype', () => {
    const parsed = parseCustodyDeposit(
      read(`{"__proto__":{"amount":"9","status":"failed"},"fee":{"deep":[1]},${JSON.stringify(WIRE).slice(1)}`),
    );
    expect(parsed).toMatchObject({ ok: true, record: { amount: '25.000001', status: 'completed' } });
    expect(Object.hasOwn(Object.prototype, 'amount')).toBe(false);
  });

  test('does not take what stands in its prototype for its own', () => {
    expect(parseCustodyDeposit(read(`{"__proto__":${JSON.stringify(WIRE)}}`))).toMatchObject({ ok: false });
  });

  test.each(['seen', 'confirming', 'completed', 'failed', 'replaced'])('has the status %s', (status) => {
    expect(deposit({ status })).toMatchObject({ ok: true, record: { status, providerStatus: status } });
  });

  test.each(['reversed', 'Completed', 'constructor', ''.padEnd(64, 'x')])(
    'with the status %p is kept, as unknown and in the words of the provider',
    (status) => {
      expect(deposit({ status })).toMatchObject({ ok: true, record: { status: 'unknown', providerStatus: status } });
    },
  );

  test.each([
    '+50.1',
    '1_000',
    '0x10',
    '٥',
    '５',
    '.5',
    '5.',
    '1e5',
    '1e-7',
    'Infinity',
    'NaN',
    ' 1',
    '1\n',
    '-0',
    '-1',
    '01',
    '1,5',
    '',
    '1'.repeat(61),
  ])('with the amount %p is refused, by the name of the member alone', (amount) => {
    expect(deposit({ amount })).toEqual({ ok: false, reason: 'amount: not a decimal string' });
    expect(deposit({ settlement: { asset: 'USD', amount } })).toEqual({
      ok: false,
      reason: 'settlement.amount: not a decimal string',
    });
  });

  test.each(['50.1', '5', '12345678901234567890'])('with the JSON number %s for an amount is refused', (number) => {
    const text = JSON.stringify(WIRE).replace('"amount":"25.000001"', `"amount":${number}`);
    expect(parseCustodyDeposit(read(text))).toEqual({ ok: false, reason: 'amount: not a decimal string' });
  });

  test.each([
    ['confirmations', -1],
    ['confirmations', 1.5],
    ['confirmations', '19'],
    ['confirmations', 1e21],
    ['required_confirmations', null],
    ['output_index', -1],
    ['output_index', '0'],
    ['output_index', 0.5],
    ['tx_hash', 7],
    ['tx_hash', ''],
    ['tx_hash', 'a\u0000b'],
    ['id', ''],
    ['id', 'a b'],
    ['id', '..'],
    ['id', 7],
    ['address', null],
    ['tag', 7],
    ['status', null],
    ['status', 4],
    ['settlement', 'USD'],
    ['settlement', { asset: 'USD' }],
    ['replaced_by', ''],
    ['updated_at', 'yesterday'],
    ['updated_at', '2026-13-29T10:15:30Z'],
    ['updated_at', 1_795_947_330],
  ])('with %s %p is refused and named', (member, value) => {
    const parsed = deposit({ [member]: value });
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining(member) });
  });

  test.each(Object.keys(WIRE))('without %s is refused: absence is not null', (member) => {
    const { [member]: _left, ...rest } = WIRE;
    expect(parseCustodyDeposit(read(JSON.stringify(rest)))).toMatchObject({ ok: false });
  });

  test.each(['null', '[]', '"d1"', '7', 'true'])('that is %s is refused', (text) => {
    expect(parseCustodyDeposit(read(text))).toMatchObject({ ok: false });
  });
});

describe('A page of changes', () => {
  const page = (members: Readonly<Record<string, unknown>>) => parseCustodyDepositPage(read(JSON.stringify(members)));

  test('gives each good record although others are bad, and the bad ones by their id', () => {
    const items = [WIRE, { ...WIRE, id: 'd2', amount: '1e5' }, 7, { ...WIRE, id: 'd4' }, { id: '', amount: '1' }];
    const parsed = page({ items, next_cursor: 'c9', has_more: true });
    expect(parsed).toMatchObject({ ok: true, record: { nextCursor: 'c9', hasMore: true } });
    expect(parsed.ok ? parsed.record.items : []).toMatchObject([
      { ok: true, record: { id: 'd1' } },
      { ok: false, id: 'd2', reason: 'amount: not a decimal string' },
      { ok: false, id: null },
      { ok: true, record: { id: 'd4' } },
      { ok: false, id: null },
    ]);
  });

  test.each([[{}], [{ next_cursor: null }]])('may leave the cursor out on the last page', (members) => {
    expect(page({ items: [], has_more: false, ...members })).toEqual({
      ok: true,
      record: { items: [], nextCursor: null, hasMore: false },
    });
  });

  test.each([
    ['no items', { next_cursor: 'c', has_more: false }],
    ['items that are no list', { items: {}, next_cursor: 'c', has_more: false }],
    ['more items than any page has', { items: Array(1_001).fill(1), next_cursor: 'c', has_more: false }],
    ['no has_more', { items: [], next_cursor: 'c' }],
    ['a has_more of another type', { items: [], next_cursor: 'c', has_more: 'false' }],
    ['an empty cursor', { items: [], next_cursor: '', has_more: true }],
    ['a cursor that is a number', { items: [], next_cursor: 7, has_more: true }],
  ])('with %s is refused as a whole', (_name, members) => {
    expect(page(members)).toMatchObject({ ok: false });
  });
});
