import { nameCustodySubject, verifyCustodyWebhook } from '../../src/providers/custody/webhook.js';
import { hmacSha256 } from '../../src/providers/signature.js';
import { CANARY_CARD } from '../support/deposit-world.js';

const NEW = 'the-new-secret-of-this-endpoint-1234';
const OLD = 'the-old-secret-of-this-endpoint-1234';
const NOW_MS = 1_795_947_330_500;
const NOW = Math.floor(NOW_MS / 1_000);
const BODY = Buffer.from('{ "event_id":"evt_1", "type":"deposit.changed","object_id":"d1", "x":1e2, "n":"\\u00e9" }');

function sign(t: string | number, options: { secret?: string; body?: Buffer } = {}): string {
  return hmacSha256(options.secret ?? NEW, [`${t}.`, options.body ?? BODY]).toString('hex');
}

function verify(header: string | null, options: { body?: Buffer; secrets?: string[]; nowMs?: number } = {}) {
  return verifyCustodyWebhook({
    rawBody: options.body ?? BODY,
    headers: new Headers(header === null ? {} : { 'X-Custody-Signature': header }),
    secrets: options.secrets ?? [NEW],
    nowMs: options.nowMs ?? NOW_MS,
  });
}

describe('A custody webhook', () => {
  test('is verified over the bytes as they came, odd spacing, escapes and all', () => {
    expect(verify(`t=${NOW},v1=${sign(NOW)}`)).toBe('ok');
    const reserialised = Buffer.from(JSON.stringify(JSON.parse(BODY.toString())));
    expect(verify(`t=${NOW},v1=${sign(NOW)}`, { body: reserialised })).toBe('bad');
  });

  test('is accepted under the old and the new secret while both are valid, whichever signature comes first', () => {
    const wrong = '0'.repeat(64);
    for (const secret of [NEW, OLD]) {
      const right = sign(NOW, { secret });
      expect(verify(`t=${NOW},v1=${wrong},v1=${right}`, { secrets: [NEW, OLD] })).toBe('ok');
      expect(verify(`t=${NOW},v1=${right},v1=${wrong}`, { secrets: [NEW, OLD] })).toBe('ok');
    }
    expect(verify(`t=${NOW},v1=${sign(NOW, { secret: OLD })}`, { secrets: [NEW] })).toBe('bad');
  });

  test('is refused when its only good signature stands under an unknown scheme', () => {
    expect(verify(`t=${NOW},v0=${sign(NOW)}`)).toBe('bad');
  });

  test('is fresh within 300 seconds of receipt, both ways', () => {
    for (const t of [NOW - 300, NOW, NOW + 300]) expect(verify(`t=${t},v1=${sign(t)}`)).toBe('ok');
    for (const t of [NOW - 301, NOW + 301, NOW + 3_600]) expect(verify(`t=${t},v1=${sign(t)}`)).toBe('bad');
  });

  test('signed for one moment cannot be given another', () => {
    expect(verify(`t=${NOW - 1},v1=${sign(NOW)}`)).toBe('bad');
  });

  test.each(['NaN', '1e3', '', '-1', ' ', '0x10', `${NOW}.0`])('with the time %p is refused', (t) => {
    expect(verify(`t=${t},v1=${sign(t)}`)).toBe('bad');
  });

  test.each([
    ['no header', null],
    ['an empty header', ''],
    ['no time', `v1=${sign(NOW)}`],
    ['two times', `t=${NOW},t=${NOW},v1=${sign(NOW)}`],
    ['no signature', `t=${NOW}`],
    ['an empty signature', `t=${NOW},v1=`],
    ['abc', `t=${NOW},v1=abc`],
    ['63 hex digits', `t=${NOW},v1=${sign(NOW).slice(1)}`],
    ['65 hex digits', `t=${NOW},v1=${sign(NOW)}0`],
    ['letters of several bytes', `t=${NOW},v1=${'\u00e9'.repeat(64)}`],
    ['pairs that are no hex', `t=${NOW},v1=${'zz'.repeat(32)}`],
    ['only commas', ',,,,'],
    ['only equals signs', '===='],
    ['a header joined of two', `t=${NOW},v1=${sign(NOW)}, t=${NOW},v1=${sign(NOW)}`],
  ])('with %s is refused and nothing is thrown', (_name, header) => {
    expect(verify(header)).toBe('bad');
  });

  test('is refused when the secrets are empty, short or none', () => {
    for (const weak of ['', 'abcd']) {
      expect(verify(`t=${NOW},v1=${sign(NOW, { secret: weak })}`, { secrets: [weak] })).toBe('bad');
    }
    expect(verify(`t=${NOW},v1=${sign(NOW)}`, { secrets: [] })).toBe('bad');
  });
});

describe('The subject of a custody webhook', () => {
  const name = (text: string | Buffer) => nameCustodySubject(Buffer.from(text));

  test('is the deposit or payout named by object_id, and no other fact is taken', () => {
    expect(
      name('{"event_id":"e1","type":"deposit.changed","object_id":"d1","amount":"9","status":"completed"}'),
    ).toEqual({
      deliveryId: 'e1',
      eventType: 'deposit.changed',
      subject: { type: 'deposit', ref: 'd1' },
    });
    expect(name('{"event_id":"e2","type":"payout.changed","object_id":"p1"}')).toMatchObject({
      subject: { type: 'payout', ref: 'p1' },
    });
  });

  test.each([
    ['a byte order mark', '\ufeff{"event_id":"e","type":"deposit.changed","object_id":"d"}', 'byte_order_mark'],
    ['UTF-16', Buffer.from('{"event_id":"e"}', 'utf16le'), 'not_json'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not_utf8'],
    ['nothing', '', 'not_json'],
    ['garbage after the end', '{"event_id":"e"} x', 'not_json'],
    ['two documents', '{}{}', 'not_json'],
    ['half a document', '{"event_id":"e","type":"depo', 'not_json'],
    ['a list', '[{"event_id":"e"}]', 'not_an_object'],
    ['text', '"evt"', 'not_an_object'],
    ['a number', '12345678901234567890', 'not_an_object'],
    ['null', 'null', 'not_an_object'],
    ['a member twice', '{"event_id":"e","object_id":"a","object_id":"b"}', 'repeated_member'],
    ['a member twice with one value', '{"event_id":"e","event_id":"e"}', 'repeated_member'],
    ['a member twice by way of an escape', '{"event_id":"e","\\u0065vent_id":"f"}', 'repeated_member'],
    ['a member twice far inside', '{"event_id":"e","more":[{"a":{"b":1,"b":2}}]}', 'repeated_member'],
    ['a __proto__ member', '{"__proto__":{"event_id":"e"},"type":"deposit.changed","object_id":"d"}', 'proto_member'],
    ['a __proto__ member inside', '{"event_id":"e","more":{"__proto__":{}}}', 'proto_member'],
    ['deep nesting', `{"event_id":"e","more":${'['.repeat(50_000)}`, 'too_deep'],
    ['no id', '{"type":"deposit.changed","object_id":"d"}', 'no_event_id'],
    ['an empty id', '{"event_id":"","type":"deposit.changed","object_id":"d"}', 'no_event_id'],
    ['a number for an id', '{"event_id":7,"type":"deposit.changed","object_id":"d"}', 'no_event_id'],
    ['an id with a NUL', '{"event_id":"a\\u0000","type":"deposit.changed","object_id":"d"}', 'no_event_id'],
    ['an id with half a surrogate', '{"event_id":"\\ud800","type":"deposit.changed","object_id":"d"}', 'no_event_id'],
    ['an endless id', `{"event_id":"${'e'.repeat(300)}","type":"deposit.changed","object_id":"d"}`, 'no_event_id'],
    ['an unknown type', '{"event_id":"e","type":"deposit.made","object_id":"d"}', 'unknown_type'],
    ['a type every object has', '{"event_id":"e","type":"constructor","object_id":"d"}', 'unknown_type'],
    ['no type', '{"event_id":"e","object_id":"d"}', 'unknown_type'],
    ['no object', '{"event_id":"e","type":"deposit.changed"}', 'no_object_id'],
    ['a path for an object', '{"event_id":"e","type":"deposit.changed","object_id":".."}', 'no_object_id'],
    ['an object with spaces', '{"event_id":"e","type":"deposit.changed","object_id":"a b"}', 'no_object_id'],
    ['null for an object', '{"event_id":"e","type":"deposit.changed","object_id":null}', 'no_object_id'],
  ])('of a body with %s is parked with a reason', (_name, body, reason) => {
    expect(name(body)).toMatchObject({ parked: reason });
  });

  test.each([
    [{ event_id: CANARY_CARD }, null],
    [{ event_id: 'cev_4242-4242-4242-4242' }, null],
    [{ object_id: `cdp${CANARY_CARD}` }, 'cev_1'],
    [{ object_id: '4242:4242:4242:4242' }, 'cev_1'],
  ])('of a body whose id holds a card number is parked, and no such id is kept: %j', (changes, deliveryId) => {
    const body = { event_id: 'cev_1', type: 'deposit.changed', object_id: 'cdp_1', ...changes };
    expect(name(JSON.stringify(body))).toEqual({ parked: 'card_data', deliveryId });
  });

  test.each(['550e8400-e29b-41d4-a716-446655440000', 'cdp_507f1f77bcf86cd799439011', '1795947330123', '17'])(
    'is taken by an id that is none, such as %s',
    (ref) => {
      const body = { event_id: ref, type: 'deposit.changed', object_id: ref };
      expect(name(JSON.stringify(body))).toMatchObject({ deliveryId: ref, subject: { ref } });
    },
  );

  test('keeps the delivery id of a body that names nothing we know, so that its repeat is seen as one', () => {
    expect(name('{"event_id":"e9","type":"deposit.made","object_id":"d"}')).toEqual({
      parked: 'unknown_type',
      deliveryId: 'e9',
    });
  });

  test('of the next body is not touched by a __proto__ in the one before', () => {
    name('{"__proto__":{"event_id":"evil","object_id":"evil"},"type":"deposit.changed"}');
    expect(name('{"type":"deposit.changed"}')).toEqual({ parked: 'no_event_id', deliveryId: null });
    expect(Object.hasOwn(Object.prototype, 'event_id')).toBe(false);
  });

  test('reads a string that never ends in linear time', () => {
    expect(name(`"${'\\"'.repeat(500_000)}`)).toEqual({ parked: 'not_json', deliveryId: null });
  });
});
