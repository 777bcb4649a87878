import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { PROBLEMS, type ProblemCode, problemSchema } from '../../src/contracts/problems.js';
import { newId } from '../../src/db/new-id.js';
import { leg } from '../../src/domain/journal.js';
import { buildOpenApi } from '../../src/http/gateway/openapi.js';
import { ANSWER_HEADERS } from '../../src/http/gateway/openapi-headers.js';
import type { Route } from '../../src/http/gateway/route.js';
import { ROUTES } from '../../src/http/gateway/routes.js';
import { CARDHOLDERS, PERSON } from '../support/cardholders.js';
import type { TestAnswer } from '../support/gateway.js';
import { makeCard } from '../support/gateway-cards.js';
import { type CreatingGateway, openCreatingGateway } from '../support/gateway-creates.js';
import { makeAddress, makeCustomer, makeDeposit, makeRequest } from '../support/gateway-rows.js';
import { movement, openPurse, postNow } from '../support/journal-fixtures.js';

let on: CreatingGateway;
beforeAll(async () => {
  on = await openCreatingGateway();
});
afterAll(async () => on?.gateway.close());

const ANSWERED = Object.keys(ANSWER_HEADERS);
const document = JSON.parse(JSON.stringify(buildOpenApi(ROUTES)));

/** What a route takes, by operation. */
const BODIES: Readonly<Record<string, object>> = {
  createDepositAddress: { network: 'tron' },
  createCardholder: PERSON,
  reviseCardholder: { country: 'FR' },
  createCard: { cardholder_id: 'chd', load: { amount: '0', asset: 'USD' } },
  createLoad: { amount: { amount: '1.00', asset: 'USD' } },
};

/** Of each route one object that is there, by operation. */
async function prepareObjects(): Promise<Record<string, string>> {
  const { tx, owner } = on.gateway;
  const merchantId = on.merchant.id;
  const customerId = await makeCustomer(tx, { merchantId }, 'player-7');
  const address = await makeAddress(tx, { merchantId, customerId, state: 'active' });
  const deposit = await makeDeposit(tx, { merchantId, customerId, addressId: address });
  const request = await makeRequest(
    tx,
    { merchantId, key: 'createDepositAddress' },
    { resource: { type: 'deposit_address', id: address, made: true } },
  );
  const { keys } = on.merchant;
  const call = { key: keys.live, body: PERSON, headers: { 'idempotency-key': 'prepared' } };
  const cardholder = String((await on.gateway.call('POST', CARDHOLDERS, call)).json['id']);
  const { card, load } = await makeCard(tx, { merchantId, cardholder });
  const purse = await openPurse(owner, { merchantId, asset: 'USD' });
  const [posted] = await postNow(owner, movement([leg(purse.clearing, -100n), leg(purse.wallet, 100n)]));
  const balanceCheck = newId('balanceCheck');
  await owner.query(`select sverka.assign_balance_source('live', 'pert', 'pert-main', $1)`, [merchantId]);
  await owner.query(
    `insert into sverka.balance_check (id, source_id, trigger, result, finished_at)
     select $1, s.id, 'timer', 'equal', now() from sverka.balance_source s`,
    [balanceCheck],
  );
  return {
    getBalanceCheck: balanceCheck,
    getDepositAddress: address,
    getDeposit: deposit,
    getRequest: request,
    getMovement: posted?.movementId ?? '',
    getCardholder: cardholder,
    reviseCardholder: cardholder,
    eraseCardholder: cardholder,
    getLoad: load,
    ...Object.fromEntries(
      ['getCard', 'freezeCard', 'unfreezeCard', 'closeCard', 'createLoad', 'listLoads'].map((name) => [name, card]),
    ),
  };
}

/** The answer has exactly the members of the schema that its status documents, and its status is documented. */
function expectDocumented(route: Route, answer: TestAnswer): void {
  const operation = document.paths[route.path][route.method.toLowerCase()];
  const documented = operation.responses[String(answer.status)];
  expect([route.operationId, answer.status, documented !== undefined]).toEqual([
    route.operationId,
    answer.status,
    true,
  ]);
  const told = ANSWERED.filter((name) => answer.headers.has(name));
  expect(Object.keys(documented.headers)).toEqual(expect.arrayContaining(told));
  const type = answer.headers.get('content-type') ?? '';
  expect(Object.keys(documented.content)).toContain(type);
  if (type === 'application/problem+json') {
    expect(documented.description).toContain(`\`${answer.json.code}\``);
    expect(PROBLEMS[answer.json.code as ProblemCode].status).toBe(answer.status);
    return expectExactly(problemSchema, answer.json);
  }
  const schema = route.answers[answer.status]?.schema;
  if (!schema) throw new Error(`${route.operationId} documents no ${answer.status}`);
  expectExactly(schema, answer.json);
  if (route.answers[answer.status]?.location) expect(answer.headers.get('location')).toMatch(/^\/v1\//);
}

function expectExactly(schema: z.ZodType, body: unknown): void {
  // A plain object schema drops what it does not know: what comes out equals what went in only if all was known.
  expect(schema.parse(body)).toEqual(body);
}

test('every route answers as it is documented, on success and on the errors that all of them have', async () => {
  const objects = await prepareObjects();
  for (const route of ROUTES) {
    const path = route.path.replace('{id}', objects[route.operationId] ?? '');
    const ask = (key: string | undefined, at = path) =>
      on.gateway.call(route.method, at, {
        ...(key !== undefined && { key }),
        ...(route.body && { body: BODIES[route.operationId] }),
        headers: { 'idempotency-key': route.operationId, prefer: 'wait=0' },
      });
    const found = await ask(on.merchant.keys.live);
    expect([route.operationId, found.status < 300]).toEqual([route.operationId, true]);
    expectDocumented(route, found);
    for (const answer of [
      await ask(undefined),
      await ask(on.merchant.keys.live, `${path}?nonsense=1`),
      await ask(on.merchant.readOnly),
    ]) {
      expectDocumented(route, answer);
    }
  }
});

test('an object that is not there is documented on each route that names one', async () => {
  const named = ROUTES.filter((route) => route.path.includes('{id}') && route.operationId !== 'getRequest');
  expect(named.length).toBeGreaterThan(2);
  for (const route of named) {
    const answer = await on.gateway.call(route.method, route.path.replace('{id}', 'nonsense'), {
      key: on.merchant.keys.live,
      ...(route.body && { body: BODIES[route.operationId] }),
      headers: { 'idempotency-key': `nothing-${route.operationId}` },
    });
    expect(answer.status).toBe(404);
    expectDocumented(route, answer);
  }
});

test('from the first moment of a stop every call is refused, and what waits gives up its wait', async () => {
  await on.reset();
  on.start = on.makes('preparing');
  const waiting = on.post('slow', { network: 'bitcoin' }, { prefer: 'wait=10' });
  while (on.started.length === 0) await pause(10);
  on.gateway.stopping = true;
  try {
    expect((await waiting).status).toBe(202);
    for (const path of ['/v1/wallet', '/docs']) {
      const answer = await on.gateway.call('GET', path, { key: on.merchant.keys.live });
      expect([answer.status, answer.json.code, answer.headers.get('retry-after')]).toEqual([
        503,
        'temporarily_unavailable',
        '1',
      ]);
    }
  } finally {
    on.gateway.stopping = false;
  }
});
