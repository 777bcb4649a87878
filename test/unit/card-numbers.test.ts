import { holdsCardNumber, maskCardNumbers, namesCardNumber } from '../../src/domain/card-numbers.js';
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

test.each([
  ['4242424242424242', true],
  ['order-4111111111111111', true],
  ['ref:5555555555554444.x', true],
  ['4242424242424243', false],
  ['order-1795947330123', false],
  ['550e8400-e29b-41d4-a716-446655440000', false],
  ['x4242424242424242', false],
])('the name %s is taken for a card number: %s', (name, expected) => {
  expect(namesCardNumber(name)).toBe(expected);
});
