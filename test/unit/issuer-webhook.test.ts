import fc from 'fast-check';
import { nameCustodySubject } from '../../src/providers/custody/webhook.js';
import { maskIssuerWebhook, nameIssuerSubject, verifyIssuerWebhook } from '../../src/providers/issuer/webhook.js';
import { hmacSha256 } from '../../src/providers/signature.js';
import { CANARY_CARD } from '../support/deposit-world.js';

const SECRET = 'the-secret-of-this-endpoint-36-bytes';
const NOW_MS = 1_795_947_330_500;
const NOW = Math.floor(NOW_MS / 1_000);
const EVENT = {
  ...{ event_id: 'iev_1', type: 'card.issued', card_id: 'icd_1', authorization_id: null, reference: 'iss_1' },
  ...{ amount: null, asset: null, merchant: null, local: null, occurred_at: '2026-11-29T10:15:30.123Z' },
};
const BODY = Buffer.from(JSON.stringify(EVENT));

const name = (changes: Record<string, unknown>) =>
  nameIssuerSubject(Buffer.from(JSON.stringify({ ...EVENT, ...changes })));

describe('An issuer webhook', () => {
  const verify = (header: string, headerName = 'X-Issuer-Signature') =>
    verifyIssuerWebhook({
      rawBody: BODY,
      headers: new Headers({ [headerName]: header }),
      secrets: [SECRET],
      nowMs: NOW_MS,
    });
  const sign = (t: number, secret = SECRET) => `t=${t},v1=${hmacSha256(secret, [`${t}.`, BODY]).toString('hex')}`;

  test('is verified over its bytes, under its own header, within 300 seconds both ways', () => {
    expect([NOW - 300, NOW, NOW + 300].map((t) => verify(sign(t)))).toEqual(['ok', 'ok', 'ok']);
    expect([NOW - 301, NOW + 301].map((t) => verify(sign(t)))).toEqual(['bad', 'bad']);
    expect(verify(sign(NOW, 'another-secret-of-thirty-six-bytes!!'))).toBe('bad');
    expect(verify(sign(NOW), 'X-Custody-Signature')).toBe('bad');
  });
});

describe('What an issuer webhook names', () => {
  test.each(['card.issued', 'card.declined', 'card.changed'])('is the card by our reference: %s', (type) => {
    expect(name({ type })).toEqual({ deliveryId: 'iev_1', eventType: type, subject: { type: 'card', ref: 'iss_1' } });
  });

  test.each([null, '', undefined])('is the card by its own id when the reference is %p', (reference) => {
    expect(name({ reference })).toMatchObject({ subject: { type: 'card', ref: 'icd_1' } });
  });

  test.each([
    ['authorization.approved', 'authorization'],
    ['clearing.forced', 'clearing'],
    ['refund.posted', 'refund'],
    ['dispute.reversed', 'dispute'],
    ['fee.charged', 'fee'],
  ])('is by its first word: %s', (type, subject) => {
    expect(name({ type, authorization_id: 'iau_1' })).toMatchObject({ subject: { type: subject, ref: 'iau_1' } });
    expect(name({ type })).toMatchObject({ subject: { type: subject, ref: 'icd_1' } });
  });

  test.each([
    [{ type: 'card.issuedd' }, 'unknown_type', 'iev_1'],
    [{ type: 'deposit.changed' }, 'unknown_type', 'iev_1'],
    [{ type: 7 }, 'unknown_type', 'iev_1'],
    [{ reference: 7 }, 'no_card_id', 'iev_1'],
    [{ reference: null, card_id: null }, 'no_card_id', 'iev_1'],
    [{ reference: 'a b' }, 'no_card_id', 'iev_1'],
    [{ event_id: undefined }, 'no_event_id', null],
    [{ event_id: CANARY_CARD }, 'card_data', null],
    [{ event_id: '4242_4242_4242_4242' }, 'card_data', null],
    [{ reference: null, card_id: `icd:${CANARY_CARD}-1229` }, 'card_data', 'iev_1'],
    [{ reference: '4242:4242:4242:4242' }, 'card_data', 'iev_1'],
    [{ reference: CANARY_CARD }, 'card_data', 'iev_1'],
    [{ reference: null, card_id: `icd_${CANARY_CARD}` }, 'card_data', 'iev_1'],
  ])('is nothing in %j: parked as %s', (changes, parked, deliveryId) => {
    expect(name(changes)).toEqual({ parked, deliveryId });
  });

  test.each([
    ['oops', 'not_json'],
    ['[]', 'not_an_object'],
    ['{"event_id":"a","event_id":"a"}', 'repeated_member'],
    ['{"__proto__":{},"event_id":"a"}', 'proto_member'],
    ['\ufeff{}', 'byte_order_mark'],
  ])('is nothing in %s, as with every provider', (text, parked) => {
    const body = Buffer.from(text);
    expect(nameIssuerSubject(body)).toEqual({ parked, deliveryId: null });
    expect(nameCustodySubject(body)).toEqual({ parked, deliveryId: null });
  });
});

describe('What is kept of an issuer webhook', () => {
  const kept = (text: string) => maskIssuerWebhook(Buffer.from(text)).toString();

  test('has its length and all that is no long number or code', () => {
    const text = `{"event_id":"iev_1","pan":"${CANARY_CARD}","cvv":"987","amount":"25.00","note":"4000-0012 3456 789"}`;
    const masked = kept(text);
    expect(masked).toHaveLength(text.length);
    expect(masked).toContain('"event_id":"iev_1"');
    expect(masked).toContain('"amount":"25.00"');
    expect(masked).not.toMatch(/987|[0-9]{5}|0012/);
  });

  test('holds no number of 12 digits or more, also behind escapes', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{12,19}$/), fc.string(), (pan, note) => {
        const escaped = [...pan].map((digit) => `\\u003${digit}`).join('');
        const text = `{"note":${JSON.stringify(note)},"a":"${pan}","b":"${escaped}","c":${pan}}`;
        expect(kept(text).replaceAll(/\\u003([0-9])/g, '$1')).not.toContain(pan);
      }),
      { numRuns: 500 },
    );
  });
});
