import { readFileSync } from 'node:fs';

function errorOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('It did not throw.');
}

test('an error that Node.js made is an Error inside a test, as it is in production', async () => {
  const missing = errorOf(() => readFileSync('/does/not/exist'));
  const refused = await fetch('http://127.0.0.1:1/').catch((error: unknown) => error);
  const late = await fetch('http://127.0.0.1:1/', { signal: AbortSignal.abort() }).catch((error: unknown) => error);
  expect([missing, refused, late].map((error) => error instanceof Error)).toEqual([true, true, true]);
  expect(refused instanceof TypeError).toBe(true);
});

test('what is no error, or an error of another class, stays what it is', () => {
  class Ours extends Error {}
  const missing = errorOf(() => readFileSync('/does/not/exist'));
  expect(missing instanceof TypeError).toBe(false);
  expect(missing instanceof Ours).toBe(false);
  expect(new Ours() instanceof Ours).toBe(true);
  expect(new Ours() instanceof Error).toBe(true);
  for (const value of [{}, { message: 'no' }, null, undefined, 'Error']) expect(value instanceof Error).toBe(false);
});
