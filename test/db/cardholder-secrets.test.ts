import fc from 'fast-check';
import { CARDHOLDERS, type CardholderGateway, openCardholderGateway, PERSON } from '../support/cardholders.js';
import { makeMerchant } from '../support/gateway.js';
import { findInDatabase, findInLines } from '../support/identity-scan.js';

let on: CardholderGateway;
beforeAll(async () => {
  on = await openCardholderGateway();
});
afterAll(async () => on?.gateway.close());

/** Long enough that it stands nowhere by chance; in scripts and with marks as names have them. */
const unit = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzäöüßéñçабвгдежзийקרשתمحمد王小明'.split(''));
const name = fc.string({ unit, minLength: 9, maxLength: 30 });
const day = fc.date({ min: new Date('1900-01-02'), max: new Date('2005-12-31'), noInvalidDate: true });
const identity = fc.record({
  first_name: name,
  last_name: name,
  birth_date: day.map((date) => date.toISOString().slice(0, 10)),
  country: fc.constantFrom('DE', 'RU', 'ES', 'CN'),
  document: fc.stringMatching(/^[A-Z]{2}-[0-9]{7,12}$/),
});
type Identity = typeof PERSON;
/** What is secret of it: its country and initials are not. */
const secretsOf = (person: Identity) => [person.first_name, person.last_name, person.birth_date, person.document];

/** Everything that may be done with an identity, right and wrong; answers all that was answered. */
async function live(person: Identity, other: Identity, key: string): Promise<string[]> {
  const answers: string[] = [];
  const note = (answer: { text: string; headers: Headers }) => {
    answers.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  };
  const made = await on.post(key, person);
  note(made);
  const id = String(made.json['id']);
  note(await on.post(key, person));
  note(await on.post(key, other));
  note(
    await on.post(`${key}-refused`, {
      ...person,
      country: 'XX',
      birth_date: `${person.birth_date}Z`,
      extra: person.last_name,
    }),
  );
  note(await on.call('PATCH', `/${id}`, { last_name: other.last_name, document: other.document }));
  note(await on.call('PATCH', `/${id}`, { first_name: person.first_name, birth_date: `0${person.birth_date}` }));
  note(await on.gateway.call('POST', CARDHOLDERS, { key: on.merchant.keys.live, raw: `${JSON.stringify(person)}}` }));
  note(await on.call('GET', `/${id}`));
  note(await on.call('GET', '?limit=100'));
  expect(await on.identity(id, 2)).toMatchObject({ lastName: other.last_name, firstName: person.first_name });
  note(await on.call('DELETE', `/${id}`));
  note(await on.call('PATCH', `/${id}`, { first_name: person.first_name }));
  note(await on.post(key, person));
  return answers;
}

test('no text of an identity stands in any answer, log line or column, whatever is done with it', async () => {
  let at = 0;
  const seen: string[] = [];
  await fc.assert(
    fc.asyncProperty(identity, identity, async (person, other) => {
      on.merchant = await makeMerchant(on.gateway.tx);
      at += 1;
      const secrets = [...secretsOf(person), ...secretsOf(other)];
      expect(findInLines(await live(person, other, `key-${at}`), secrets)).toEqual([]);
      seen.push(...secrets);
    }),
    { numRuns: 25 },
  );
  expect(at).toBeGreaterThanOrEqual(25);
  expect(on.gateway.logLines.length).toBeGreaterThan(100);
  expect(findInLines(on.gateway.logLines, seen)).toEqual([]);
  expect(await findInDatabase(on.gateway.tx, seen)).toEqual([]);
});

test('the search finds what is there: in text, inside a document, and in bytes', async () => {
  const canary = `Zanzibar-${PERSON.document}`;
  await on.make({ ...PERSON, reference: `for ${canary}` });
  expect(await findInDatabase(on.gateway.tx, [canary])).toEqual(['sverka.cardholder.reference']);
  await on.gateway.tx.query('alter table sverka.cardholder_member disable trigger append_only');
  await on.gateway.tx.query(`update sverka.cardholder_member set sealed = convert_to(rpad($1, 60), 'UTF8')`, [
    PERSON.last_name,
  ]);
  expect(await findInDatabase(on.gateway.tx, [PERSON.last_name])).toEqual(['sverka.cardholder_member.sealed']);
  expect(findInLines([`{"msg":"${PERSON.last_name}"}`], [PERSON.last_name, 'other'])).toEqual([PERSON.last_name]);
});
