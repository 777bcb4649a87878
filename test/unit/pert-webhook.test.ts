import {
  maskPertWebhook,
  namePertSubject,
  readPertNotification,
  verifyPertWebhook,
} from '../../src/providers/pert/webhook.js';
import { hmacSha256 } from '../../src/providers/signature.js';
import { CANARY_CARD } from '../support/deposit-world.js';

const NEW = 'the-new-secret-of-this-endpoint-1234';
const OLD = 'the-old-secret-of-this-endpoint-1234';
const BODY = Buffer.from('{ "event":"transaction.created", "transaction":{"id":"ptx_1"}, "n":"\\u00e9" }');
const sign = (secret = NEW, body = BODY) => hmacSha256(secret, [body]).toString('hex');

function verify(header: string | null, options: { body?: Buffer; secrets?: string[] } = {}) {
  return verifyPertWebhook({
    rawBody: options.body ?? BODY,
    headers: new Headers(header === null ? {} : { 'X-Webhook-Signature': header }),
    secrets: options.secrets ?? [NEW],
    nowMs: 0,
  });
}

describe('A webhook of Pert', () => {
  test('is verified over the bytes as they came', () => {
    expect(verify(`sha256=${sign()}`)).toBe('ok');
    expect(verify(`sha256=${sign().toUpperCase()}`)).toBe('ok');
    expect(verify(`sha256=${sign()}`, { body: Buffer.from(JSON.stringify(JSON.parse(BODY.toString()))) })).toBe('bad');
  });

  test('is accepted under the old and the new secret while both are valid', () => {
    for (const secret of [NEW, OLD]) expect(verify(`sha256=${sign(secret)}`, { secrets: [NEW, OLD] })).toBe('ok');
    expect(verify(`sha256=${sign(OLD)}`)).toBe('bad');
  });

  test.each([
    ['no header', null],
    ['an empty header', ''],
    ['no signature', 'sha256='],
    ['no scheme', sign()],
    ['another scheme', `sha512=${sign()}`],
    ['a scheme in capitals', `SHA256=${sign()}`],
    ['a space before the signature', `sha256= ${sign()}`],
    ['63 hex digits', `sha256=${sign().slice(1)}`],
    ['65 hex digits', `sha256=${sign()}0`],
    ['pairs that are no hex', `sha256=${'zz'.repeat(32)}`],
    ['base64', `sha256=${hmacSha256(NEW, [BODY]).toString('base64')}`],
    ['letters of several bytes', `sha256=${'\u00e9'.repeat(64)}`],
    ['two signatures', `sha256=${sign()},sha256=${sign()}`],
    ['a header joined of two', `sha256=${sign()}, sha256=${sign()}`],
    ['the signature of another body', `sha256=${sign(NEW, Buffer.from('{}'))}`],
  ])('with %s is refused and nothing is thrown', (_name, header) => {
    expect(verify(header)).toBe('bad');
  });

  test('is refused when the secrets are empty, short or none', () => {
    for (const weak of ['', 'abcd']) expect(verify(`sha256=${sign(weak)}`, { secrets: [weak] })).toBe('bad');
    expect(verify(`sha256=${sign()}`, { secrets: [] })).toBe('bad');
  });
});

const named = (text: string | Buffer, id: string | null = 'pwh_1') =>
  namePertSubject(Buffer.from(text), new Headers(id === null ? {} : { 'X-Webhook-Event-Id': id }));
const GOOD = '{"event":"transaction.updated","transaction":{"id":"ptx_1"}}';

describe('The subject of a webhook of Pert', () => {
  test.each(['transaction.created', 'transaction.updated'])('of the type %s is its transaction', (event) => {
    expect(named(JSON.stringify({ event, transaction: { id: 'ptx_1' }, object_id: 'x' }))).toEqual({
      deliveryId: 'pwh_1',
      eventType: event,
      subject: { type: 'transaction', ref: 'ptx_1' },
    });
  });

  test.each(['a', '!', '~', '00000000-0000-0000-0000-000000000000', 'e'.repeat(200)])(
    'is delivered under %p, which stands in the header',
    (id) => {
      expect(named(GOOD, id)).toMatchObject({ deliveryId: id, subject: { ref: 'ptx_1' } });
    },
  );

  test.each([null, '', 'a b', 'a, b', '\u00e9', 'e'.repeat(201)])(
    'without a usable id in the header (%p) is parked, to be known by its hash',
    (id) => {
      expect(named(GOOD, id)).toEqual({ parked: 'no_event_id', deliveryId: null });
      expect(named('{"event":"transaction.created","event_id":"e1","transaction":{"id":"t"}}', id)).toEqual({
        parked: 'no_event_id',
        deliveryId: null,
      });
      expect(named('oops', id)).toEqual({ parked: 'not_json', deliveryId: null });
    },
  );

  test.each([
    ['a byte order mark', '\ufeff{}', 'byte_order_mark'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not_utf8'],
    ['nothing', '', 'not_json'],
    ['half a document', '{"event":"transac', 'not_json'],
    ['a list', '[]', 'not_an_object'],
    ['null', 'null', 'not_an_object'],
    ['a number', '12345678901234567890', 'not_an_object'],
    ['a member twice', '{"event":"a","event":"a"}', 'repeated_member'],
    ['a member twice far inside', '{"transaction":{"from":{"balance":1,"balance":2}}}', 'repeated_member'],
    ['a __proto__ member', '{"__proto__":{"event":"transaction.created"}}', 'proto_member'],
    ['deep nesting', `{"event":${'['.repeat(50_000)}`, 'too_deep'],
    ['no type', '{"transaction":{"id":"t"}}', 'unknown_type'],
    ['an unknown type', '{"event":"transaction.deleted","transaction":{"id":"t"}}', 'unknown_type'],
    ['a type every object has', '{"event":"constructor","transaction":{"id":"t"}}', 'unknown_type'],
    ['no transaction', '{"event":"transaction.created"}', 'no_transaction_id'],
    ['a transaction that is a list', '{"event":"transaction.created","transaction":["id"]}', 'no_transaction_id'],
    ['a transaction that is a number', '{"event":"transaction.created","transaction":7}', 'no_transaction_id'],
    ['no id of it', '{"event":"transaction.created","transaction":{}}', 'no_transaction_id'],
    ['a number for an id', '{"event":"transaction.created","transaction":{"id":7}}', 'no_transaction_id'],
    ['a path for an id', '{"event":"transaction.created","transaction":{"id":".."}}', 'no_transaction_id'],
    ['a card number for an id', `{"event":"transaction.created","transaction":{"id":"${CANARY_CARD}"}}`, 'card_data'],
  ])('of a body with %s is parked with a reason, under its delivery id', (_name, body, reason) => {
    expect(named(body)).toEqual({ parked: reason, deliveryId: 'pwh_1' });
  });

  test('of a delivery id that holds a card number is parked, and no such id is kept', () => {
    expect(named(GOOD, `pwh_${CANARY_CARD}`)).toEqual({ parked: 'card_data', deliveryId: null });
  });
});

const SIDE = '{"address":"w-1","amount":"2","balance":90071992547409931}';
// The version, the balance and the block are numbers that pass for card numbers, as one in ten does.
const FACTS =
  '{"event":"transaction.created","block":1795947330126,"transaction":{"id":"1795947330126","status":"completed",' +
  `"currency":"USD","balance_version":90071992547409931,"from":${SIDE},"to":null,"created_at":"2026-11-29T10:15:30Z"}}`;
const RECORD = {
  id: '1795947330126',
  balanceVersion: 90071992547409931n,
  from: { address: 'w-1', amount: '2', balance: '90071992547409931' },
};

describe('The facts of a notification', () => {
  test('are its transaction, to the last digit', () => {
    expect(readPertNotification(Buffer.from(FACTS))).toMatchObject({ ok: true, transaction: RECORD });
  });

  test.each([
    ['oops', 'not_json'],
    ['{"event":"transaction.deleted","transaction":{}}', 'event: unknown'],
    ['{"event":"transaction.created"}', 'transaction.record: missing or of another type'],
    [FACTS.replace('"amount":"2",', ''), 'transaction.from.amount: not a decimal'],
    [FACTS.replace('"to":null,', ''), 'transaction.to: missing or of another type'],
  ])('cannot be read from %s', (body, reason) => {
    expect(readPertNotification(Buffer.from(body))).toEqual({ ok: false, reason });
  });

  test('stand in the stored body as they were, although some pass for card numbers', () => {
    const stored = maskPertWebhook(Buffer.from(FACTS));
    expect(readPertNotification(stored)).toEqual(readPertNotification(Buffer.from(FACTS)));
    expect(String(stored)).toContain('"block":"*********0126"');
  });

  test('stand there also when card data slipped in, which is masked', () => {
    const slipped = `"pan":${CANARY_CARD},"cvv":"123","note":"pay ${CANARY_CARD} \\u0034242424242424242","transaction"`;
    const stored = maskPertWebhook(Buffer.from(FACTS.replace('"transaction"', slipped)));
    expect(String(stored)).not.toContain(CANARY_CARD);
    expect(String(stored)).not.toContain('123"');
    expect(readPertNotification(stored)).toMatchObject({ ok: true, transaction: RECORD });
  });

  test('are refused from a stored body whose address was a card number, never taken as masked', () => {
    const body = Buffer.from(FACTS.replace('"w-1"', `"${CANARY_CARD}"`));
    const reason = 'transaction.from.address: holds a card number';
    expect(readPertNotification(body)).toEqual({ ok: false, reason });
    expect(String(maskPertWebhook(body))).not.toContain(CANARY_CARD);
    expect(readPertNotification(maskPertWebhook(body))).toEqual({ ok: false, reason });
  });

  test('are the same bytes where nothing has to be masked', () => {
    expect(maskPertWebhook(BODY)).toBe(BODY);
    const odd = Buffer.from(`"${'\\"'.repeat(200_000)}`);
    expect(maskPertWebhook(odd)).toBe(odd);
  });
});
