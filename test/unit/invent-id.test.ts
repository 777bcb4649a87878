import { randomBytes } from 'node:crypto';
import { holdsCardNumber } from '../../src/domain/card-numbers.js';
import { inventId } from '../../src/providers/simulator-kit/invent-id.js';

const MANY = Array.from({ length: 20_000 });

test('no id that the simulated issuer invents passes for a card number, as plain hexadecimal sometimes does', () => {
  const passing = (make: () => string) => MANY.filter(() => holdsCardNumber(make())).length;
  expect(passing(() => inventId('icd'))).toBe(0);
  // Negative control.
  expect(passing(() => randomBytes(12).toString('hex'))).toBeGreaterThan(0);
});

test('ids are of one shape, and none comes twice', () => {
  const ids = MANY.map(() => inventId('icd'));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^icd_[a-p]{24}$/);
});
