import { createHash } from 'node:crypto';
import type pg from 'pg';
import { insertCard } from '../../src/db/cards.js';
import { buryRow } from '../../src/db/dead-letters.js';
import { insertIssuance, moveIssuance, readIssuance } from '../../src/db/issuances.js';
import { createApiKey } from '../../src/db/merchants.js';
import { movementId, newId } from '../../src/db/new-id.js';
import { requestWithdrawal } from '../../src/db/request-withdrawal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { addWithdrawalDestination, setWithdrawalOffer, setWithdrawalPolicy } from '../../src/db/withdrawal-book.js';
import { leg } from '../../src/domain/journal.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { makePerson } from './decisions.js';
import { makeAddress, makeCustomer, makeDeposit } from './gateway-rows.js';
import { makeCardholderRow } from './issuance-rows.js';
import { movement, openPurse, postNow } from './journal-fixtures.js';
import { TESTER } from './tester.js';
import { ASSET, addProof, FEE } from './withdrawal-rows.js';

/** One of each thing that pages show, of one merchant in the live book; deposit, issuance and letter need a person. */
export interface PageRows {
  readonly merchantId: string;
  readonly customerId: string;
  readonly addressId: string;
  readonly depositId: string;
  readonly cardId: string;
  readonly issuanceId: string;
  readonly movementId: string;
  readonly deadLetterId: string;
  readonly keyId: string;
  readonly withdrawalId: string;
  readonly proofId: string;
  readonly destinationId: string;
  readonly balanceSourceKey: string;
  readonly balanceCheckId: string;
}

/** `reason` stands wherever a provider's own words can come to a page. */
export async function makePageRows(
  owner: pg.Pool,
  of: { merchantId: string; reason?: string; hash?: string },
): Promise<PageRows> {
  const tx = queriesOf(owner);
  const { merchantId, reason = 'amount_too_precise' } = of;
  const customerId = await makeCustomer(tx, { merchantId }, `player-${newId('customer').slice(-8)}`);
  const owned = { merchantId, customerId };
  const addressId = await makeAddress(tx, { ...owned, state: 'active' });
  const depositId = await makeDeposit(tx, { ...owned, addressId, ...(of.hash ? { hash: of.hash } : {}) });
  await tx.query(
    `update sverka.deposit set state = 'parked', version = version + 1, actor = 'worker:custody', reason = $2
      where id = $1`,
    [depositId, reason],
  );
  const { cardId, issuanceId } = await makeUnknownIssuance(owner, { merchantId, reason });
  const deadLetterId = await makeDeadLetter(owner, reason);
  const { id: keyId } = await createApiKey(tx, { merchantId, book: 'live', access: 'full' });
  const moved = await makeMovement(owner, merchantId);
  const made = { merchantId, customerId, addressId, depositId, cardId, issuanceId, deadLetterId, keyId };
  const mirrored = await makeMirror(owner, { merchantId, reason });
  return { ...made, movementId: moved, ...mirrored, ...(await makeWithdrawal(owner, merchantId)) };
}

async function makeUnknownIssuance(owner: pg.Pool, of: { merchantId: string; reason: string }) {
  const tx = queriesOf(owner);
  const { merchantId, reason } = of;
  const [cardId, issuanceId] = [newId('card'), newId('issuance')];
  const by = { actor: 'worker:issuer', traceId: newTraceId() };
  const at = { book: 'live', merchantId, asset: 'USD', provider: 'issuer', account: 'main-live', ...by } as const;
  const cardholderId = await makeCardholderRow({ tx, owner }, merchantId, `X${issuanceId.slice(-8)}`);
  await insertCard(tx, { ...at, id: cardId, cardholderId, product: 'instant' });
  await insertIssuance(tx, {
    ...{ ...at, id: issuanceId, cardId, generation: 0, cardholderId, cardholderRevision: 1, product: 'instant' },
    ...{ loadAmount: 2_500n, feeAmount: 100n, movementId: null, workflowId: `issuance:live:${issuanceId}` },
  });
  const move = { reason, ...by };
  await moveIssuance(tx, await readIssuance(tx, issuanceId), { ...move, to: 'submitted', submittedBy: 'run' });
  await moveIssuance(tx, await readIssuance(tx, issuanceId), { ...move, to: 'unknown' });
  return { cardId, issuanceId };
}

async function makeDeadLetter(owner: pg.Pool, reason: string): Promise<string> {
  const tx = queriesOf(owner);
  const inboxId = newId('inbox');
  const body = Buffer.from('{}');
  await tx.query(
    `insert into sverka.inbox (id, provider, endpoint, book, delivery_id, body, body_hash, event_type, subject_type,
       subject_ref, status) values ($1, 'custody', 'main-live', 'live', $1, $2, $3, 'deposit.changed', 'deposit', $4, 'pending')`,
    [inboxId, body, createHash('sha256').update(body).digest(), `cdp-${inboxId}`],
  );
  await buryRow(tx, { inboxId, reason, attempts: 8 }, newTraceId());
  const rows = await tx.query<{ id: string }>('select id from sverka.dead_letter where inbox_id = $1', [inboxId]);
  return rows[0]?.id ?? '';
}

/** 1,250.50 EUR on the merchant's wallet. */
async function makeMovement(owner: pg.Pool, merchantId: string): Promise<string> {
  const purse = await openPurse(owner, { asset: 'EUR', merchantId });
  const credit = movement([leg(purse.clearing, -125_050n), leg(purse.wallet, 125_050n)], { kind: 'deposit_credit' });
  await postNow(owner, credit);
  const rows = await owner.query<{ key: Buffer }>(
    'select key from ledger.movement where merchant_id = $1 order by id desc limit 1',
    [merchantId],
  );
  return movementId(rows.rows[0]?.key ?? Buffer.alloc(32));
}

/** A mirrored account that differs, with a stale address, an item that cannot be read, and its last check. */
async function makeMirror(owner: pg.Pool, { merchantId, reason }: { merchantId: string; reason: string }) {
  const account = `pert-${newId('event').slice(4)}`;
  const balanceCheckId = newId('balanceCheck');
  await owner.query(`select sverka.lock_balance_source('live', 'pert', $1)`, [account]);
  const { rows } = await owner.query<{ id: number }>(
    `update sverka.balance_source set merchant_id = $2, base_cursor = 'c100', base_number = 3, resets = 1,
       differences = 2, last_action = 'differs', checked_at = now(), next_check_at = now() + interval '1 minute'
     where account = $1 returning id`,
    [account, merchantId],
  );
  const sourceId = rows[0]?.id;
  await owner.query(
    `insert into sverka.balance_currency (source_id, currency, confirmed, frozen, held, available, base, moved,
       differs_since, last_read_at) values ($1, 'USDT', 1050.25, 0, 5, 1045.25, 1040.25, 0, now(), now())`,
    [sourceId],
  );
  await owner.query(
    `insert into sverka.balance_address (source_id, address, currency, balance, version, resets, read_at, base_number,
       seen_version, seen_before) values ($1, $2, 'USDT', 1040.25, 7, 0, now(), 3, 7, 0)`,
    [sourceId, `${account} ${reason}`],
  );
  await owner.query(
    `insert into sverka.balance_bad_item (source_id, since_cursor, page_limit, item_id, raw, reason, base_number)
     values ($1, 'c99', 500, $2, '{"secret":"never shown"}', $3, 3)`,
    [sourceId, `tx-${reason}`, reason],
  );
  await owner.query(
    `insert into sverka.balance_check (id, source_id, trigger, result, actions, currencies, consecutive_differences,
       finished_at) values ($1, $2, 'timer', 'differs', '{compared,backfilled,compared}', $3, 2, now())`,
    [
      balanceCheckId,
      sourceId,
      JSON.stringify([{ currency: 'USDT', ours: '1040.25', theirs: '1050.25', difference: '-10' }]),
    ],
  );
  return { balanceSourceKey: `live:pert:${account}`, balanceCheckId };
}

/** Asked for by the merchant's own person, with a proof that was handed in. */
async function makeWithdrawal(owner: pg.Pool, merchantId: string) {
  const tx = queriesOf(owner);
  const operator = await makePerson(owner, `operator-${newId('user').slice(4)}`);
  const userId = newId('user');
  await createUserRow(owner, { userId, merchantId });
  const offer = { network: 'tron', asset: ASSET, fee: FEE, smallest: 1n, twoApprovalsFrom: 10_000_000n };
  await setWithdrawalOffer(tx, { ...offer, book: 'live', routes: ['custody', 'manual'] }, TESTER);
  await setWithdrawalPolicy(tx, { book: 'live', coolingOffMs: 0, expiresAfterMs: 86_400_000 }, TESTER);
  const purse = await openPurse(owner, { asset: ASSET, merchantId });
  await postNow(owner, movement([leg(purse.clearing, -10_000_000n), leg(purse.wallet, 10_000_000n)]));
  const of = { book: 'live', merchantId, userId } as const;
  const to = { label: 'Treasury', network: 'tron', address: `T${merchantId.slice(4)}`, tag: null };
  const { id: destinationId } = await addWithdrawalDestination(tx, { ...of, ...to });
  const terms = { asset: ASSET, amount: 1_000_000n, seenFee: FEE, destinationId, reference: null };
  const { id } = await requestWithdrawal(tx, { ...of, ...terms, key: newId('request'), traceId: newTraceId() });
  const withdrawalId = id ?? '';
  return {
    withdrawalId,
    destinationId,
    proofId: await addProof({ console: owner, operator }, withdrawalId, { file: true }),
  };
}

async function createUserRow(owner: pg.Pool, { userId, merchantId }: { userId: string; merchantId: string }) {
  const sql = 'select sverka.create_user($1, $2, $3, $4)';
  await owner.query(sql, [userId, `asks-${userId.slice(4)}`, merchantId, ['requester']]);
}
