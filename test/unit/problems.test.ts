import { PROBLEMS } from '../../src/contracts/problems.js';

/** The contract (API.md 2): status and codes; those in the second list may be sent again as they are. */
const CODES = {
  400: ['validation', 'malformed_body', 'invalid_cursor', 'asset_not_supported', 'network_not_supported'],
  '400 too': ['webhook_url_refused', 'idempotency_key_missing'],
  401: ['authentication'],
  402: ['insufficient_funds', 'receivable_outstanding', 'issuer_declined'],
  403: ['permission'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  409: ['already_exists', 'invalid_state', 'card_frozen', 'card_closed', 'cardholder_erased', 'outcome_unknown'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  422: ['idempotency_key_reused'],
  429: ['rate_limited'],
  500: ['internal'],
  503: ['provider_unavailable', 'temporarily_unavailable'],
};
const RETRYABLE = ['internal', 'outcome_unknown', 'provider_unavailable', 'rate_limited', 'temporarily_unavailable'];

test('each of the 27 codes of the contract is there, under its status, and no other', () => {
  const named = Object.entries(CODES).flatMap(([status, codes]) =>
    codes.map((code) => [code, Number.parseInt(status, 10)]),
  );
  expect(named).toHaveLength(27);
  expect(Object.fromEntries(Object.entries(PROBLEMS).map(([code, { status }]) => [code, status]))).toEqual(
    Object.fromEntries(named),
  );
});

test('the codes that a caller may send again are those of the contract', () => {
  const retryable = Object.entries(PROBLEMS).flatMap(([code, problem]) => (problem.retryable ? [code] : []));
  expect(retryable.toSorted()).toEqual(RETRYABLE);
});

test('each text is a sentence of its own, and says what to do or what is so', () => {
  const texts = Object.values(PROBLEMS).map(({ meaning }) => meaning);
  expect(new Set(texts).size).toBe(texts.length);
  for (const text of texts) expect(text).toMatch(/^[A-Z`].*\.$/);
});
