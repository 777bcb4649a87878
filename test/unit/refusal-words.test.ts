import { z } from 'zod';
import { refusalWords } from '../../src/http/gateway/refusal-words.js';
import { ROUTES } from '../../src/http/gateway/routes.js';

const settlement = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('as_token') }),
  z.strictObject({ mode: z.literal('settled'), asset: z.string() }),
]);
const schema = z.strictObject({
  text: z.string().min(2).max(3),
  kind: z.enum(['a', 'b']),
  only: z.literal('x'),
  count: z.int().min(1).max(9),
  share: z.number().gt(0).lt(1),
  yes: z.boolean(),
  list: z.array(z.string()).max(1),
  nothing: z.null(),
  settlement,
  many: z.enum(Array.from({ length: 40 }, (_, n) => `kind_${n}`)),
  own: z.string().regex(/^[a-z]$/, 'must be one small letter'),
  form: z.string().regex(/^[a-z]$/),
  either: z.union([z.string(), z.array(z.string())]),
});
const good = {
  ...{ text: 'ab', kind: 'a', only: 'x', count: 1, share: 0.5, yes: true, list: [], nothing: null },
  ...{ settlement: { mode: 'as_token' }, many: 'kind_1', own: 'a', form: 'a', either: 'a' },
};

function refuse(body: object): string[] {
  const { error } = schema.safeParse(body, { error: refusalWords });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('/')} ${message}`);
}

test('every member that is not there is missing', () => {
  expect(refuse(good)).toEqual([]);
  expect(refuse({})).toEqual(Object.keys(good).map((name) => `${name} is missing`));
  expect(refuse({ ...good, settlement: {} })).toEqual(['settlement/mode is missing']);
  expect(refuse({ ...good, settlement: { mode: 'settled' } })).toEqual(['settlement/asset is missing']);
});

test.each<[object, string]>([
  [{ text: 5 }, 'text must be text'],
  [{ text: 'SECRET' }, 'text must have at most 3 characters'],
  [{ text: 'a' }, 'text must have at least 2 characters'],
  [{ kind: 'SECRET' }, 'kind must be one of a, b'],
  [{ kind: null }, 'kind must be one of a, b'],
  [{ only: 'SECRET' }, 'only must be x'],
  [{ count: 'SECRET' }, 'count must be a number'],
  [{ count: 1.5 }, 'count must be a whole number'],
  [{ count: 0 }, 'count must be at least 1'],
  [{ count: 10 }, 'count must be at most 9'],
  [{ share: 0 }, 'share must be more than 0'],
  [{ share: 1 }, 'share must be less than 1'],
  [{ yes: 'SECRET' }, 'yes must be true or false'],
  [{ list: 5 }, 'list must be a list'],
  [{ list: ['a', 'b'] }, 'list must have at most 1 items'],
  [{ list: [7] }, 'list/0 must be text'],
  [{ nothing: 'SECRET' }, 'nothing must be null'],
  [{ settlement: 'SECRET' }, 'settlement must be an object'],
  [{ settlement: { mode: 'SECRET' } }, 'settlement/mode must be one of as_token, settled'],
  [{ many: 'SECRET' }, 'many must be one of the values that the API reference lists'],
  [{ own: 'SECRET' }, 'own must be one small letter'],
  [{ form: 'SECRET' }, 'form has the wrong form'],
  [{ either: 5 }, 'either has none of the forms that the API reference lists'],
])('%j is told as: %s', (wrong, words) => {
  expect(refuse({ ...good, ...wrong })).toEqual([words]);
});

// A change leaves what it does not name as it is, and null there is another thing.
test('every optional member of a body that makes something may be null, which says what leaving it out says', () => {
  const optional = ROUTES.filter(({ method }) => method === 'POST')
    .flatMap((route) => (route.body instanceof z.ZodObject ? [route.body] : []))
    .flatMap((body) =>
      Object.entries(body.shape as Record<string, z.ZodType>).filter(
        ([, member]) => member.safeParse(undefined).success,
      ),
    );
  expect(optional.length).toBeGreaterThan(0);
  for (const [name, member] of optional) expect([name, member.safeParse(null).success]).toEqual([name, true]);
});
