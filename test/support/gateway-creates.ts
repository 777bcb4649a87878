import type { DepositAddressInput } from '../../src/contracts/messages.js';
import { requestId } from '../../src/db/new-id.js';
import type { StartOutcome } from '../../src/http/gateway/call.js';
import { makeMerchant, openTestGateway, type TestAnswer, type TestGateway, type TestMerchant } from './gateway.js';
import { makeAddress } from './gateway-rows.js';

/** What a start answers in place of Temporal; the workflow itself is tested with the real one. */
export type Start = (input: DepositAddressInput, deadlineMs: number) => Promise<StartOutcome>;

export const ADDRESSES = '/v1/deposit-addresses';

/** A gateway whose starts a test decides, and what it was asked to start. */
export interface CreatingGateway {
  readonly gateway: TestGateway;
  merchant: TestMerchant;
  start: Start;
  running: boolean;
  started: DepositAddressInput[];
  /** Between two tests: a new merchant, and a start that must not be reached. */
  reset(): Promise<void>;
  post(key: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<TestAnswer>;
  requestIdOf(key: string): string;
  /** A start that makes an address in that state. */
  makes(state: 'preparing' | 'active' | 'failed' | 'unknown', made?: boolean): Start;
}

export async function openCreatingGateway(): Promise<CreatingGateway> {
  const unreachable: Start = () => Promise.reject(new Error('nothing should have been started'));
  const depositAddress: Start = (input, deadlineMs) => {
    creating.started.push(input);
    return creating.start(input, deadlineMs);
  };
  const gateway = await openTestGateway({
    starts: { depositAddress, findRunning: async () => (creating.running ? {} : null) },
  });
  const creating: CreatingGateway = {
    gateway,
    merchant: await makeMerchant(gateway.tx),
    start: unreachable,
    running: false,
    started: [],
    async reset() {
      creating.merchant = await makeMerchant(gateway.tx);
      creating.start = unreachable;
      creating.running = false;
      creating.started = [];
    },
    post: (key, body = { network: 'tron' }, headers = {}) =>
      gateway.call('POST', ADDRESSES, {
        key: creating.merchant.keys.live,
        body,
        headers: { 'idempotency-key': key, prefer: 'wait=0', ...headers },
      }),
    requestIdOf: (key) => requestId({ book: 'live', merchantId: creating.merchant.id, key }),
    makes:
      (state, made = true) =>
      async ({ network, asset, request }) => {
        const id = await makeAddress(gateway.tx, { merchantId: creating.merchant.id, state, network, asset });
        const resource = { type: 'deposit_address', id, made };
        return { kind: 'accepted', accepted: { fingerprint: request.fingerprint, resource, refusal: null } };
      },
  };
  return creating;
}
