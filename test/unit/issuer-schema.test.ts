import fc from 'fast-check';
import {
  parseClosedIssuerCard,
  parseIssuerBalances,
  parseIssuerCard,
  parseIssuerCardList,
  parseIssuerEventPage,
} from '../../src/providers/issuer/schema.js';
import { readStrictJson } from '../../src/providers/strict-json.js';
import { CANARY_CARD } from '../support/deposit-world.js';

const PAN = '4000001234567898';
const WIRE: Readonly<Record<string, unknown>> = {
  id: 'icd_1',
  reference: 'iss_1',
  product: 'instant',
  status: 'active',
  decline_reason: null,
  pan: PAN,
  cvv: '987',
  exp_month: 7,
  exp_year: 2031,
  load: { amount: '25.00', asset: 'USD' },
};

/** As it comes from the wire: numbers are read from text, never through a double. */
function read(text: string): unknown {
  const json = readStrictJson(Buffer.from(text));
  if (!json.ok) throw new Error(`the test's own JSON is ${json.reason}`);
  return json.value;
}
const wire = (value: unknown) => read(JSON.stringify(value));
const card = (changes: Readonly<Record<string, unknown>> = {}) => parseIssuerCard(wire({ ...WIRE, ...changes }));

describe('A card record', () => {
  test('is read as what may exist here: of its number the last four digits, of its code nothing', () => {
    expect(card()).toEqual({
      ok: true,
      record: {
        id: 'icd_1',
        reference: 'iss_1',
        product: 'instant',
        status: 'active',
        providerStatus: 'active',
        declineReason: null,
        last4: '7898',
        expMonth: 7,
        expYear: 2031,
        load: { amount: '25.00', asset: 'USD' },
      },
    });
  });

  test('that is not made yet has neither number, expiry nor load', () => {
    const nothing = { status: 'pending', pan: null, cvv: null, exp_month: null, exp_year: null, load: null };
    expect(card(nothing)).toMatchObject({
      ok: true,
      record: { status: 'pending', last4: null, expMonth: null, expYear: null, load: null },
    });
  });

  test('need not name its number at all, and may have members that we do not know', () => {
    const { pan: _pan, cvv: _cvv, ...rest } = WIRE;
    expect(parseIssuerCard(wire({ ...rest, track2: `${PAN}=3107` }))).toMatchObject({
      ok: true,
      record: { last4: null },
    });
  });

  test.each(['active', 'pending', 'declined', 'frozen', 'closed'])('has the status %s', (status) => {
    expect(card({ status })).toMatchObject({ ok: true, record: { status, providerStatus: status } });
  });

  test.each(['blocked', 'Active', 'constructor', ''.padEnd(64, 'x')])(
    'with the status %p is kept, as unknown_status and in the words of the issuer',
    (status) => {
      expect(card({ status })).toMatchObject({
        ok: true,
        record: { status: 'unknown_status', providerStatus: status },
      });
    },
  );

  test.each([
    ['pan', '411111', 'pan: not a card number'],
    ['pan', '4111 1111 1111 1111', 'pan: not a card number'],
    ['pan', '٤'.repeat(16), 'pan: not a card number'],
    ['pan', 4_111_111, 'pan: not a card number'],
    ['pan', '', 'pan: not a card number'],
    ['exp_month', 0, 'exp_month: not a whole number in range'],
    ['exp_month', 13, 'exp_month: not a whole number in range'],
    ['exp_month', '7', 'exp_month: not a whole number in range'],
    ['exp_year', 31, 'exp_year: not a whole number in range'],
    ['exp_year', 2_031.5, 'exp_year: not a whole number in range'],
    ['load', { amount: '1e5', asset: 'USD' }, 'load.amount: not a decimal string'],
    ['load', { amount: 25, asset: 'USD' }, 'load.amount: not a decimal string'],
    ['load', { amount: '25' }, 'load.asset: not a word'],
    ['load', '25', 'load: missing or of another type'],
    ['id', '..', 'id: not an id'],
    ['id', 7, 'id: not an id'],
    ['reference', null, 'reference: not plain text'],
    ['product', '', 'product: not a word'],
    ['status', null, 'status: not a word'],
    ['decline_reason', 'a\u0000b', 'decline_reason: not plain text'],
    ['status', 'CVV 987', 'status: not a word'],
  ])('with %s %j is refused, by the name of the member alone', (member, value, reason) => {
    expect(card({ [member]: value })).toEqual({ ok: false, reason });
  });

  test.each(Object.keys(WIRE).filter((member) => member !== 'pan' && member !== 'cvv'))(
    'without %s is refused: absence is not null',
    (member) => {
      const { [member]: _left, ...rest } = WIRE;
      expect(parseIssuerCard(wire(rest))).toMatchObject({ ok: false });
    },
  );

  test.each(['null', '[]', '"c1"', '7', 'true'])('that is %s is refused', (text) => {
    expect(parseIssuerCard(read(text))).toMatchObject({ ok: false });
  });
});

describe('A card number where it does not belong [CASES N01]', () => {
  test.each(['id', 'reference', 'product', 'status'])('in %s makes the record unusable', (member) => {
    expect(card({ [member]: `x-${CANARY_CARD}` })).toEqual({ ok: false, reason: `${member}: holds a card number` });
    for (const value of [CANARY_CARD, `${CANARY_CARD.slice(0, 8)}-${CANARY_CARD.slice(8)}`]) {
      expect(card({ [member]: value })).toMatchObject({ ok: false });
    }
  });

  // It passes no check digit, so that only the comparison with the card's own number can see it.
  test.each([
    ['id', PAN],
    ['id', `icd-${PAN.slice(0, 8)}-${PAN.slice(8)}`],
    ['product', `p${PAN.slice(0, 8)}_${PAN.slice(8)}`],
    ['load', { amount: PAN, asset: 'USD' }],
    ['load', { amount: `0.${PAN}`, asset: 'USD' }],
  ])('of this very card is seen without a check digit, too: %s %j', (member, value) => {
    expect(card({ [member]: value })).toEqual({ ok: false, reason: `${member}: holds a card number` });
    expect(card({ [member]: value, pan: '400000765432109' })).toMatchObject({ ok: true });
  });

  test.each(['do_not_honor', 'identity', '05', 'N7'])('the class %s of a decline is kept', (reason) => {
    expect(card({ status: 'declined', decline_reason: reason })).toMatchObject({ record: { declineReason: reason } });
  });

  test.each([`card ${PAN} refused`, 'CVV 987 wrong', 'Canaryfirst Canarylast unknown', '987', 'x'.repeat(65)])(
    'the sentence of a decline is kept as `other`: %s',
    (reason) => {
      expect(card({ status: 'declined', decline_reason: reason })).toMatchObject({
        record: { declineReason: 'other' },
      });
    },
  );

  test('is not seen in an id of ours, however its random digits fall', () => {
    const reference = `iss_${CANARY_CARD}0123456789`;
    expect(card({ reference })).toMatchObject({ ok: true, record: { reference } });
  });
});

// Texts that hold the number whole, grouped, or not at all, in any member and at any place of the record.
const pan = fc.stringMatching(/^[0-9]{12,19}$/);
const around = fc.string({ maxLength: 8 });
const planted = (number: string) =>
  fc.oneof(
    fc.constant(number),
    fc.tuple(around, around).map(([before, after]) => `${before}${number}${after}`),
    fc.constant(number.replaceAll(/(....)/g, '$1 ').trim()),
    fc.constant(number.replaceAll(/(....)/g, '$1-')),
    fc.string(),
    fc.constantFrom(null, 7, true, [number], { [number]: number, amount: number, asset: number }),
  );
const MEMBERS = ['id', 'reference', 'product', 'status', 'decline_reason', 'load', 'remaining', 'exp_month', 'other'];

/** Runs of 12 digits or more, also grouped, in all that leaves the schema. */
function digitsIn(value: unknown): string {
  return JSON.stringify(value).replaceAll(/(?<=[0-9])[ ._-](?=[0-9])/g, '');
}

describe('Whatever an issuer sends', () => {
  test('no result and no error holds the number of the card, and what is refused is named', () => {
    const seen = { taken: 0, refused: 0 };
    const hostile = pan.chain((number) =>
      fc.record({
        number: fc.constant(number),
        changes: fc.dictionary(fc.constantFrom(...MEMBERS), planted(number), { maxKeys: 2 }),
      }),
    );
    fc.assert(
      fc.property(hostile, ({ number, changes }) => {
        const body = wire({ ...WIRE, pan: number, ...changes });
        const results = [parseIssuerCard(body), parseClosedIssuerCard(body), parseIssuerCardList({ items: [body] })];
        for (const result of results) expect(digitsIn(result)).not.toContain(number);
        seen[results[0]?.ok ? 'taken' : 'refused'] += 1;
      }),
      { numRuns: 2_000 },
    );
    expect(seen.taken).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(50);
  });

  test('nothing of it throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const body = wire(value);
        for (const parse of [parseIssuerCard, parseIssuerCardList, parseIssuerEventPage, parseIssuerBalances])
          parse(body);
      }),
      { numRuns: 500 },
    );
  });
});

const EVENT = {
  ...{ event_id: 'iev_1', type: 'clearing.posted', card_id: 'icd_1', authorization_id: 'iau_1', reference: null },
  ...{ amount: '3.50', asset: 'USD', merchant: { name: 'Kiosk', mcc: '5999', country: 'DE' } },
  ...{ local: { amount: '3.20', currency: 'EUR' }, final: true, occurred_at: '2026-11-29T10:15:30Z' },
};

describe('A page of events', () => {
  const page = (items: unknown[]) => parseIssuerEventPage(wire({ items, next_cursor: 'c9', has_more: false }));

  test('gives each good event although others are bad, and the bad ones by their id', () => {
    const parsed = page([
      EVENT,
      { ...EVENT, event_id: 'iev_2', amount: '1e5' },
      7,
      { ...EVENT, event_id: CANARY_CARD },
    ]);
    expect(parsed).toMatchObject({ ok: true, record: { nextCursor: 'c9', hasMore: false } });
    expect(parsed.ok ? parsed.record.items : []).toMatchObject([
      { ok: true, record: { eventId: 'iev_1', type: 'clearing.posted', final: true, decidedBy: null } },
      { ok: false, id: 'iev_2', reason: 'amount: not a decimal string' },
      { ok: false, id: null },
      { ok: false, id: null, reason: 'event_id: holds a card number' },
    ]);
  });

  test('keeps a type that we do not know, as unknown, and masks a number in the name of a merchant', () => {
    const merchant = { ...EVENT.merchant, name: `Shop ${PAN}` };
    const parsed = page([{ ...EVENT, type: 'card.melted', merchant }]);
    expect(parsed).toMatchObject({
      record: { items: [{ record: { type: 'unknown_type', providerType: 'card.melted' } }] },
    });
    expect(JSON.stringify(parsed)).not.toContain(PAN);
  });

  test.each([
    ['items that are no list', { items: {}, has_more: false }],
    ['no has_more', { items: [] }],
    ['an empty cursor', { items: [], next_cursor: '', has_more: true }],
  ])('with %s is refused as a whole', (_name, members) => {
    expect(parseIssuerEventPage(wire(members))).toMatchObject({ ok: false });
  });
});
