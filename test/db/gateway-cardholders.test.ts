import { CARDHOLDERS, type CardholderGateway, openCardholderGateway, PERSON } from '../support/cardholders.js';
import { makeMerchant, openTestGateway } from '../support/gateway.js';

let on: CardholderGateway;
beforeAll(async () => {
  on = await openCardholderGateway();
});
afterAll(async () => on?.gateway.close());
beforeEach(async () => {
  on.merchant = await makeMerchant(on.gateway.tx);
});

const count = (table: string) =>
  on.one(`select count(*)::int from sverka.${table} where merchant_id = $1`, [on.merchant.id]);

describe('a cardholder', () => {
  test('is made once and shown with initials and country alone', async () => {
    const answer = await on.post('one', { ...PERSON, reference: 'client-12' });
    const { id, created_at, updated_at } = answer.json;
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `${CARDHOLDERS}/${String(id)}`]);
    expect(answer.json).toEqual({
      object: 'cardholder',
      id: expect.stringMatching(/^chd_[0-9a-z]{26}$/),
      state: 'active',
      version: 1,
      revision: 1,
      initials: 'Z. W.',
      country: 'DE',
      reference: 'client-12',
      created_at,
      updated_at,
    });
    expect((await on.call('GET', `/${String(id)}`)).json).toEqual(answer.json);
    expect((await on.call('GET', '')).json).toEqual({
      object: 'list',
      data: [answer.json],
      has_more: false,
      next_cursor: null,
    });
  });

  test('is opened by the worker as he was given', async () => {
    const id = await on.make({ ...PERSON, first_name: '  Zacharias-Quill ', reference: null });
    expect(await on.identity(id, 1)).toEqual({
      firstName: PERSON.first_name,
      lastName: PERSON.last_name,
      birthDate: PERSON.birth_date,
      country: PERSON.country,
      document: PERSON.document,
    });
  });

  test.each([
    ['Анна', 'Ёлкина', 'А. Ё.'],
    ['أحمد', 'حسن', 'أ. ح.'],
    ['étienne', 'ßtraße', 'É. S.'],
    ['  ', 'x', null],
    ["'t Hooft", 'de Vries', 'T. D.'],
    ['王', '小明', '王. 小.'],
    ['e\u0301mile', 'ǆordan', 'É. Ǆ.'],
    ['x'.repeat(100), 'y'.repeat(101), null],
    ['a\u0000b', 'c', null],
    ['👩‍👩‍👧‍👦', '1st', '👩‍👩‍. S.'],
    ['\u200b', 'x', null],
  ])('of the name %j %j has the initials %j', async (first_name, last_name, initials) => {
    const answer = await on.post('one', { ...PERSON, first_name, last_name });
    expect([answer.status, answer.json['initials'] ?? null]).toEqual([initials === null ? 400 : 201, initials]);
  });

  test('of another merchant, of the other book, or that never was, is not found in any way', async () => {
    const id = await on.make();
    const { keys } = on.merchant;
    const other = await makeMerchant(on.gateway.tx);
    for (const key of [other.keys.live, keys.test]) {
      for (const method of ['GET', 'DELETE', 'PATCH']) {
        const body = method === 'PATCH' ? { body: { country: 'FR' } } : {};
        const answer = await on.gateway.call(method, `${CARDHOLDERS}/${id}`, { key, ...body });
        expect([method, answer.status, answer.json['code']]).toEqual([method, 404, 'not_found']);
      }
    }
    expect((await on.call('GET', `/chd_${'0'.repeat(26)}`)).status).toBe(404);
    expect((await on.call('DELETE', '/chd_nonsense')).status).toBe(404);
    expect((await on.call('GET', `/${id}`)).json['state']).toBe('active');
  });

  test('is listed by state and by reference, page by page', async () => {
    const [a, b, c] = [
      await on.make({ ...PERSON, reference: 'r-1' }),
      await on.make({ ...PERSON, reference: 'r-2' }),
      await on.make({ ...PERSON, reference: 'r-1' }),
    ];
    await on.call('DELETE', `/${a}`);
    const ids = async (query: string) =>
      ((await on.call('GET', query)).json['data'] as { id: string }[]).map(({ id }) => id);
    expect(await ids('?state=erased')).toEqual([a]);
    expect(await ids('?state=active&reference=r-1')).toEqual([c]);
    expect(await ids('?reference=r-1&reference=r-2')).toEqual([c, b, a]);
    const first = await on.call('GET', '?limit=2');
    const next = encodeURIComponent(String(first.json['next_cursor']));
    expect(await ids(`?limit=2&cursor=${next}`)).toEqual([a]);
  });

  test('is refused to a key that may only read', async () => {
    const id = await on.make();
    for (const [method, path] of [
      ['POST', CARDHOLDERS],
      ['PATCH', `${CARDHOLDERS}/${id}`],
      ['DELETE', `${CARDHOLDERS}/${id}`],
    ] as const) {
      const answer = await on.gateway.call(method, path, { key: on.merchant.readOnly, body: PERSON });
      expect([method, answer.status]).toEqual([method, 403]);
    }
  });
});

describe('what is refused', () => {
  test.each([
    ['first_name', ''],
    ['first_name', 7],
    ['last_name', 'x'.repeat(101)],
    ['birth_date', '1990-02-30'],
    ['birth_date', '2999-01-01'],
    ['birth_date', '1899-12-31'],
    ['birth_date', '19900228'],
    ['birth_date', '1990-02-28T00:00:00Z'],
    ['country', 'de'],
    ['country', 'XX'],
    ['country', 'DEU'],
    ['document', '9'.repeat(65)],
    ['document', ' '],
    ['reference', 'r'.repeat(141)],
    ['reference', 'a\u0000b'],
  ])('in %s, such as %j, is named and never repeated', async (member, value) => {
    const answer = await on.post('refused', { ...PERSON, [member]: value });
    expect([answer.status, answer.json['code']]).toEqual([400, 'validation']);
    const [error, ...more] = answer.json['errors'] as { pointer: string; detail: string }[];
    expect([error?.pointer, more]).toEqual([`/${member}`, []]);
    if (String(value).length > 6) expect(answer.text).not.toContain(String(value));
    expect(await count('cardholder')).toBe(0);
  });

  test.each(['first_name', 'last_name', 'birth_date', 'country', 'document'])(
    'includes a missing %s',
    async (member) => {
      const answer = await on.post('refused', { ...PERSON, [member]: undefined });
      expect([answer.status, answer.text.includes(`"/${member}"`)]).toEqual([400, true]);
      // A null is no way to leave it out.
      expect((await on.post('refused', { ...PERSON, [member]: null })).status).toBe(400);
    },
  );

  test('includes a member that is not known, and no key is kept', async () => {
    const answer = await on.post('refused', { ...PERSON, middle_name: 'Q' });
    expect([answer.status, answer.text.includes('/middle_name')]).toEqual([400, true]);
    expect(await count('request')).toBe(0);
    expect((await on.post('refused')).status).toBe(201);
  });

  test('includes everything where nothing can be sealed: 503, and the key stays free', async () => {
    for (const options of [{ publicKey: null }, { fingerprintKey: null }]) {
      const bare = await openTestGateway(options);
      try {
        const { keys } = await makeMerchant(bare.tx);
        const call = { key: keys.live, body: PERSON, headers: { 'idempotency-key': 'k' } };
        const answer = await bare.call('POST', CARDHOLDERS, call);
        expect([answer.status, answer.json['code']]).toEqual([503, 'temporarily_unavailable']);
        expect(bare.logLines.some((line) => /SVERKA_(PUBLIC_KEYS_FILE|FINGERPRINT_KEY)/.test(line))).toBe(true);
        expect(await bare.tx.query('select id from sverka.request')).toEqual([]);
      } finally {
        await bare.close();
      }
    }
  });
});

describe('a key', () => {
  test('leads to the same cardholder for ever, as he is now', async () => {
    const first = await on.post('k');
    const again = await on.post('k', { reference: null, ...Object.fromEntries(Object.entries(PERSON).reverse()) });
    expect([again.status, again.json]).toEqual([201, first.json]);
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    await on.call('DELETE', `/${String(first.json['id'])}`);
    const erased = await on.post('k');
    expect([erased.status, erased.json['state'], erased.json['initials']]).toEqual([201, 'erased', null]);
    expect(await count('cardholder')).toBe(1);
  });

  test('with another body is 422, whatever differs, and nothing changes', async () => {
    const id = await on.make();
    await on.post('k');
    for (const [member, value] of Object.entries({ ...PERSON, reference: 'x' })) {
      const other = member === 'country' ? 'FR' : member === 'birth_date' ? '1971-03-20' : `${value}1`;
      const answer = await on.post('k', { ...PERSON, [member]: other });
      expect([member, answer.status, answer.json['code']]).toEqual([member, 422, 'idempotency_key_reused']);
    }
    expect(await count('cardholder')).toBe(2);
    expect((await on.call('GET', `/${id}`)).json['version']).toBe(1);
  });

  test('twenty times at once makes one cardholder, and every answer is he', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => on.post('k')));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await Promise.all(['cardholder', 'request'].map(count))).toEqual([1, 1]);
    expect(
      await on.one('select count(*)::int from sverka.cardholder_key where cardholder_id = $1', [
        answers[0]?.json['id'],
      ]),
    ).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
  });

  test('twenty times at once with two bodies makes one cardholder, and the others are 422', async () => {
    const bodies = [PERSON, { ...PERSON, document: 'other' }];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => on.post('k', bodies[at % 2])));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      ...Array(10).fill(201),
      ...Array(10).fill(422),
    ]);
    expect(await count('cardholder')).toBe(1);
  });

  test('is needed, and is asked about by its request', async () => {
    const without = await on.gateway.call('POST', CARDHOLDERS, { key: on.merchant.keys.live, body: PERSON });
    expect([without.status, without.json['code']]).toEqual([400, 'idempotency_key_missing']);
    const made = await on.post('k');
    const id = await on.one('select id from sverka.request where merchant_id = $1', [on.merchant.id]);
    const request = await on.gateway.call('GET', `/v1/requests/${String(id)}`, { key: on.merchant.keys.live });
    expect(request.json).toMatchObject({
      state: 'done',
      resource: { type: 'cardholder', id: made.json['id'], url: `${CARDHOLDERS}/${String(made.json['id'])}` },
      response: { status: 201, body: made.json },
    });
  });
});
