import { randomBytes, randomUUID } from 'node:crypto';
import { hidesCardNumber, holdsCardNumber, maskCardNumbers, namesCardNumber } from '../../src/domain/card-numbers.js';
import { maskCardData } from '../../src/providers/mask-card-data.js';

// A canary: the public test number of a card scheme, made to be caught.
const CANARY = ['4111', '1111', '1111', '1111'];

test('a card number keeps its last four digits and its length', () => {
  expect(maskCardNumbers(`{"pan":"${CANARY.join('')}"}`)).toBe('{"pan":"************1111"}');
  expect(maskCardNumbers(CANARY.join(' '))).toBe('**** **** **** 1111');
  expect(maskCardNumbers(CANARY.join('-'))).toBe('****-****-****-1111');
});

test('a number that is no card number stays: an amount, a time, a hash, a longer run', () => {
  const texts = ['12345678901234567890.123456', '1795947330123', '4111111111111112', `${CANARY.join('')}00000`];
  for (const text of texts) expect(maskCardNumbers(text)).toBe(text);
});

test('a security code is masked under any of its names, as text and as number', () => {
  expect(maskCardNumbers('{"cvv":"123","CVC2": 4567}')).toBe('{"cvv":"***","CVC2": ****}');
  expect(holdsCardNumber('{"event_id":"cev_1"}')).toBe(false);
});

test('a body is stored masked, also when its digits are written as escapes', () => {
  const escaped = [...CANARY.join('')].map((digit) => `\\u003${digit}`).join('');
  expect(maskCardData(Buffer.from(`{"pan":"${escaped}"}`)).toString()).toBe('{"pan":"************1111"}');
  const clean = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
  expect(maskCardData(clean)).toBe(clean);
});

test('a card number is masked also where its expiry, its code or another number stands beside it', () => {
  const number = CANARY.join('');
  expect(maskCardNumbers(`${number} 12/29`)).toBe('************1111 12/29');
  expect(maskCardNumbers(`${number}-123`)).toBe('************1111-123');
  expect(maskCardNumbers(`12.${CANARY.join('_')}`)).toBe('12.****_****_****_1111');
  expect(maskCardNumbers(CANARY.join(':'))).toBe('****:****:****:1111');
});

describe('a name', () => {
  const [CARD, AMEX] = [CANARY.join(''), ['3782', '822463', '10005']];

  test.each([
    ...[CARD, `order-${CARD}`, `ref:${CARD}.x`, `order${CARD}`, `2x${CARD}z9`, `${CARD}-1229.123`, `1229:${CARD}`],
    ...['-', '_', '.', ':', ' ', '/', '\u00a0', '\u2013'].flatMap((sep) => [CANARY.join(sep), AMEX.join(sep)]),
    ...[`card_${CANARY.join('_')}_12`, `550e8400-e29b-41d4-a716-446655440000-${CARD}`],
    ...[13, 17, 19].map((digits) => `4${'0'.repeat(digits - 2)}6`.replace(/^40{11}6$/, `4${'2'.repeat(12)}`)),
    ...[`4${'0'.repeat(16)}2`, CARD.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))],
  ])('holds a card number: %s', (name) => {
    expect(namesCardNumber(name)).toBe(true);
  });

  test.each([
    ...['4242424242424243', 'order-1795947330123', '20261129101530', '2026-11-29-10-15-30-0042', 'player-7'],
    ...['550e8400-e29b-41d4-a716-446655440000', '507f1f77bcf86cd799439011', '48213-1795947330123'],
    ...['345-20261129-0042', 'iss_01kbt6x4v9n3q8r5s2w7y0z1a6', 'INV-2026-000123', `${CARD}00000`, `9${CARD.slice(1)}`],
  ])('holds none: %s', (name) => {
    expect(namesCardNumber(name)).toBe(false);
  });

  test('is never refused for being random: a UUID, an id of 24 hexadecimal digits, a hash', () => {
    const ids = Array.from({ length: 20_000 }, () => [
      randomUUID(),
      hex(12),
      `cdp_${hex(12)}`,
      hex(32),
      `0x${hex(32)}`,
    ]).flat();
    expect(ids.filter(namesCardNumber)).toEqual([]);
    // Negative control: without the exemption some are.
    expect(ids.filter((id) => namesCardNumber(`${id}g`)).length).toBeGreaterThan(0);
  });
});

test('a trace id hides a card number before zeros, behind letters, twice, among digits, and seldom by chance', () => {
  const number = CANARY.join('');
  const hiding = [number.padEnd(32, '0'), number.padStart(32, 'ab'), number + number, `12345678${number}12345678`];
  expect(hiding.filter(hidesCardNumber)).toEqual(hiding);
  expect(hidesCardNumber('4bf92f3577b34da6a3ce929d0e0e4736')).toBe(false);
  const byChance = Array.from({ length: 20_000 }, () => hex(16)).filter(hidesCardNumber);
  expect(byChance.length).toBeLessThan(100);
});

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
