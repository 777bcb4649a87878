import { readCardholderIdentity } from '../../src/activities/cardholder-identity.js';
import {
  makeMerchant,
  openTestGateway,
  type TestAnswer,
  type TestGateway,
  type TestMerchant,
  testKeys,
} from './gateway.js';

export const CARDHOLDERS = '/v1/cardholders';

/** A person made up for tests; no text of it stands anywhere by chance. */
export const PERSON = {
  first_name: 'Zacharias-Quill',
  last_name: 'Wörterbruch',
  birth_date: '1971-03-19',
  country: 'DE',
  document: 'XK-77419003',
};

/** A gateway with one merchant, and what a test asks of his cardholders. */
export interface CardholderGateway {
  readonly gateway: TestGateway;
  merchant: TestMerchant;
  post(key: string, body?: unknown): Promise<TestAnswer>;
  /** Makes one, with a key of its own; answers his id. */
  make(body?: object): Promise<string>;
  call(method: string, path: string, body?: object): Promise<TestAnswer>;
  /** Opens what is stored, as the issuing activity does. */
  identity(id: string, revision: number): ReturnType<typeof readCardholderIdentity>;
  /** The first column of a query as the owner. */
  one(sql: string, params?: readonly unknown[]): Promise<unknown>;
}

export async function openCardholderGateway(): Promise<CardholderGateway> {
  const gateway = await openTestGateway();
  let made = 0;
  const on: CardholderGateway = {
    gateway,
    merchant: await makeMerchant(gateway.tx),
    post: (key, body = PERSON) =>
      gateway.call('POST', CARDHOLDERS, {
        key: on.merchant.keys.live,
        body,
        headers: { 'idempotency-key': key },
      }),
    async make(body = PERSON) {
      made += 1;
      const answer = await on.post(`made-${made}`, body);
      if (answer.status !== 201) throw new Error(`A cardholder was not made: ${answer.status} ${answer.text}`);
      return String(answer.json['id']);
    },
    call: (method, path, body) =>
      gateway.call(method, `${CARDHOLDERS}${path}`, { key: on.merchant.keys.live, ...(body && { body }) }),
    identity: (id, revision) => readCardholderIdentity(gateway.tx, testKeys(), { id, revision }),
    async one(sql, params = []) {
      const [row] = await gateway.tx.query<Record<string, unknown>>(sql, params);
      return row && Object.values(row)[0];
    },
  };
  return on;
}
