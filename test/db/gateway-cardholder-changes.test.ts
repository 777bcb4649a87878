import { type CardholderGateway, openCardholderGateway, PERSON } from '../support/cardholders.js';
import { makeMerchant } from '../support/gateway.js';

let on: CardholderGateway;
beforeAll(async () => {
  on = await openCardholderGateway();
});
afterAll(async () => on?.gateway.close());
beforeEach(async () => {
  on.merchant = await makeMerchant(on.gateway.tx);
});

const keysOf = (id: string) => on.one('select count(*)::int from sverka.cardholder_key where cardholder_id = $1', [id]);
const membersOf = (id: string) =>
  on.one('select count(*)::int from sverka.cardholder_member where cardholder_id = $1', [id]);

describe('a change', () => {
  test('makes a revision of what it names; the rest, and the revision before, stay as they were', async () => {
    const id = await on.make();
    const answer = await on.call('PATCH', `/${id}`, { last_name: 'Ölmann', country: 'AT' });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ version: 2, revision: 2, initials: 'Z. Ö.', country: 'AT', reference: null });
    const before = await on.identity(id, 1);
    expect(before).toMatchObject({ lastName: PERSON.last_name, country: 'DE' });
    expect(await on.identity(id, 2)).toEqual({ ...before, lastName: 'Ölmann', country: 'AT' });
    expect([await keysOf(id), await membersOf(id)]).toEqual([2, 7]);
    await expect(on.identity(id, 3)).rejects.toThrow(/has no revision 3/);
  });

  test('of the reference alone is a revision too, and null takes it away', async () => {
    const id = await on.make({ ...PERSON, reference: 'old' });
    expect((await on.call('PATCH', `/${id}`, { reference: 'new' })).json).toMatchObject({
      reference: 'new',
      revision: 2,
    });
    expect((await on.call('PATCH', `/${id}`, { country: 'FR' })).json).toMatchObject({ reference: 'new', revision: 3 });
    expect((await on.call('PATCH', `/${id}`, { reference: null })).json).toMatchObject({
      reference: null,
      revision: 4,
    });
    expect(await on.identity(id, 4)).toMatchObject({ firstName: PERSON.first_name, country: 'FR' });
  });

  test('sent again changes nothing; the same change after another one does', async () => {
    const id = await on.make();
    const first = await on.call('PATCH', `/${id}`, { document: 'A-1' });
    expect((await on.call('PATCH', `/${id}`, { document: ' A-1 ' })).json).toEqual(first.json);
    await on.call('PATCH', `/${id}`, { document: 'A-2' });
    expect((await on.call('PATCH', `/${id}`, { document: 'A-1' })).json).toMatchObject({ revision: 4, version: 4 });
    expect(await on.identity(id, 4)).toMatchObject({ document: 'A-1' });
  });

  test('and others at the same time all happen, one after the other, and each is opened', async () => {
    const id = await on.make();
    const documents = ['B-1', 'B-2', 'B-3'];
    const answers = await Promise.all(documents.map((document) => on.call('PATCH', `/${id}`, { document })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const opened = await Promise.all([2, 3, 4].map(async (revision) => (await on.identity(id, revision))?.document));
    expect(new Set(opened)).toEqual(new Set(documents));
  });

  test('that names nothing, or something unknown or wrong, is refused', async () => {
    const id = await on.make();
    for (const body of [{}, { version: 2 }, { country: 'XX' }, { birth_date: null }, { initials: 'A. B.' }]) {
      expect([body, (await on.call('PATCH', `/${id}`, body)).status]).toEqual([body, 400]);
    }
    expect((await on.call('GET', `/${id}`)).json).toMatchObject({ version: 1, revision: 1 });
  });
});

describe('an erasure', () => {
  test('takes the keys and the initials, and leaves the row, the sealed members and the audit', async () => {
    const id = await on.make({ ...PERSON, reference: 'client-1' });
    await on.call('PATCH', `/${id}`, { document: 'C-1' });
    const members = await membersOf(id);
    const answer = await on.call('DELETE', `/${id}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id, state: 'erased', version: 3, revision: 2, initials: null, country: 'DE' });
    expect([await keysOf(id), await membersOf(id)]).toEqual([0, members]);
    expect(await on.identity(id, 1)).toBeNull();
    expect(await on.identity(id, 2)).toBeNull();
    const audit = await on.gateway.tx.query(
      'select from_state, to_state, version, actor from sverka.audit where subject_id = $1 order by id',
      [id],
    );
    const actor = `merchant:${on.merchant.id}`;
    expect(audit).toEqual([
      { from_state: null, to_state: 'active', version: 1, actor },
      { from_state: 'active', to_state: 'erased', version: 3, actor },
    ]);
  });

  test('is final: again it is 200 and changes nothing, and a change is refused', async () => {
    const id = await on.make();
    const first = await on.call('DELETE', `/${id}`);
    expect((await on.call('DELETE', `/${id}`)).json).toEqual(first.json);
    const change = await on.call('PATCH', `/${id}`, { country: 'FR' });
    expect([change.status, change.json['code']]).toEqual([409, 'cardholder_erased']);
    expect((await on.call('GET', `/${id}`)).json).toEqual(first.json);
  });

  test('and changes at the same time leave no key behind', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => on.make()));
    await Promise.all(
      ids.flatMap((id) => [
        on.call('PATCH', `/${id}`, { document: 'D-1' }),
        on.call('DELETE', `/${id}`),
        on.call('PATCH', `/${id}`, { document: 'D-2' }),
      ]),
    );
    for (const id of ids) expect([await keysOf(id), await on.identity(id, 1)]).toEqual([0, null]);
  });
});
