import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createActivities } from '../../src/activities/create-activities.js';
import type { ActivityDeps } from '../../src/activities/deps.js';
import { loadConfig } from '../../src/config.js';
import * as ids from '../../src/contracts/ids.js';
import * as messages from '../../src/contracts/messages.js';
import { tidySource } from '../support/tidy-source.js';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

/**
 * Names that stand in histories and databases for ever: a run that was started under the old one cannot go on, and a
 * key under it is not found again. Add a name here with the capability that brings it; never change or remove one.
 */
const WORKFLOWS = [
  'balanceSync',
  'cardChange',
  'cardLoad',
  'deposit',
  'depositAddress',
  'depositReconcile',
  'driftCheck',
  'fullCheck',
  'healthWatch',
  'inboxSweep',
  'issuance',
  'issuanceReconcile',
  'withdrawal',
];
const ACTIVITIES = [
  'checkAll',
  'checkDrift',
  'databaseApplyLedgerImport',
  'databaseDecideWithdrawal',
  'databaseDrainBalances',
  'databaseEndSweep',
  'databaseFailBalanceCheck',
  'databaseNudgeOverdue',
  'databaseReserveCardLoad',
  'databaseReserveDepositAddress',
  'databaseReserveIssuance',
  'databaseRestartStranded',
  'databaseSeal',
  'databaseSubmitCardChange',
  'databaseSubmitCardLoad',
  'databaseSubmitIssuance',
  'databaseSubmitWithdrawal',
  'databaseSuspectCardChange',
  'databaseSuspectCardLoad',
  'databaseSuspectDepositAddress',
  'databaseSuspectIssuance',
  'databaseSuspectWithdrawal',
  'databaseSweepDeadLetters',
  'databaseTellWithdrawal',
  'databaseWatchHealth',
  'pageBalances',
  'pageDepositChanges',
  'pageIssuances',
  'providerCreateCardChange',
  'providerCreateCardLoad',
  'providerCreateDepositAddress',
  'providerCreateIssuance',
  'providerCreatePayout',
  'providerReadDeposit',
  'providerReadDepositAddress',
  'providerReadIssuance',
  'providerReadIssuanceOf',
  'providerReadPayout',
  'providerReadPayoutOf',
  'providerReadProof',
];
const MESSAGES = { NUDGE_SIGNAL: 'nudge', ACCEPTED_UPDATE: 'accepted' };
const SEARCH_ATTRIBUTES = {
  kind: 'SverkaKind',
  state: 'SverkaState',
  merchant: 'SverkaMerchant',
  ref: 'SverkaRef',
  book: 'SverkaBook',
  needsOperator: 'SverkaNeedsOperator',
};

test('workflow names are frozen, and each is the name of its function', () => {
  const index = tidySource(
    'src/workflows/index.ts',
    readFileSync(join(REPOSITORY_ROOT, 'src/workflows/index.ts'), 'utf8'),
  );
  const exported = index.body.flatMap((node) => {
    const specifiers = node['specifiers'] as { orig: { value: string }; exported: { value: string } | null }[];
    return specifiers.map(({ orig, exported: as }) => ({ name: orig.value, as: as?.value ?? orig.value }));
  });
  expect(exported.map(({ as }) => as).toSorted()).toEqual(WORKFLOWS);
  expect(ids.WORKFLOW_NAMES).toEqual(WORKFLOWS);
  expect(exported.filter(({ name, as }) => name !== as)).toEqual([]);
});

test('activity names are frozen, and the prefix of each names its class', () => {
  const names = Object.keys(createActivities({} as ActivityDeps)).toSorted();
  expect(names).toEqual(ACTIVITIES);
  expect(names.filter((name) => !/^(database|providerRead|providerCreate|page|check)[A-Z]/.test(name))).toEqual([]);
});

test('names of signals, updates, queries and search attributes are frozen', () => {
  const named = Object.entries(messages).filter(([name]) => /_(SIGNAL|UPDATE|QUERY)$/.test(name));
  expect(Object.fromEntries(named)).toEqual(MESSAGES);
  expect(messages.SEARCH_ATTRIBUTES).toEqual(SEARCH_ATTRIBUTES);
});

test('ids of workflows and schedules are frozen', () => {
  const merchantId = `mer_${'0'.repeat(26)}`;
  const requestId = `req_${'1'.repeat(26)}`;
  expect(ids.depositWorkflowId({ book: 'live', provider: 'custody', ref: 'd-1' })).toBe('deposit:live:custody:d-1');
  expect(ids.depositAddressWorkflowId({ book: 'test', merchantId, requestId })).toBe(
    `deposit-address:test:${merchantId}:${'1'.repeat(26)}`,
  );
  expect(ids.issuanceWorkflowId({ book: 'test', merchantId, requestId, generation: 0 })).toBe(
    `issuance:test:${merchantId}:${'1'.repeat(26)}`,
  );
  expect(ids.cardLoadWorkflowId({ book: 'test', merchantId, requestId })).toBe(
    `card-load:test:${merchantId}:${'1'.repeat(26)}`,
  );
  expect(ids.cardChangeWorkflowId({ book: 'live', cardId: 'card_1', number: 3 })).toBe('card-change:live:card_1:3');
  expect(ids.issuanceReconcileScheduleId({ book: 'live', provider: 'issuer' })).toBe('issuance-reconcile:live:issuer');
  expect(ids.depositReconcileScheduleId({ book: 'live', provider: 'custody' })).toBe('deposit-reconcile:live:custody');
  expect(ids.INBOX_SWEEP_WORKFLOW_ID).toBe('inbox-sweep');
  expect(ids.HEALTH_WATCH_WORKFLOW_ID).toBe('health-watch');
  expect(ids.DRIFT_CHECK_SCHEDULE_ID).toBe('drift-check');
  expect(ids.FULL_CHECK_SCHEDULE_ID).toBe('full-check');
});

test('names of task queues are frozen', () => {
  expect(loadConfig({ DATABASE_URL: 'postgres://localhost/sverka' }).SVERKA_TASK_QUEUE).toBe('sverka');
  expect(ids.providerTaskQueue('sverka', 'custody')).toBe('sverka-provider-custody');
});

test('prefixes of public ids are frozen', () => {
  expect(ids.ID_PREFIXES).toEqual({
    merchant: 'mer',
    apiKey: 'key',
    user: 'usr',
    customer: 'cus',
    wallet: 'wal',
    movement: 'mov',
    request: 'req',
    depositAddress: 'addr',
    deposit: 'dep',
    cardholder: 'chd',
    card: 'card',
    issuance: 'iss',
    load: 'load',
    withdrawal: 'wd',
    withdrawalDestination: 'wdd',
    withdrawalProof: 'wdp',
    balanceCheck: 'bchk',
    event: 'evt',
    decision: 'dec',
    inbox: 'inb',
    deadLetter: 'dl',
    alert: 'alt',
  });
});
