import {
  DEPOSIT_MOVES,
  DEPOSIT_STATES,
  type DepositPlan,
  type DepositReading,
  type DepositStanding,
  type DepositState,
  type DepositTerms,
  planCopy,
  planDeposit,
  planParking,
} from '../../src/domain/deposit.js';
import { mayMove } from '../../src/domain/states.js';

const TERMS: DepositTerms = { network: 'tron', asset: 'USDT-TRC20', settlementMode: 'as_token', settlementAsset: null };
const SETTLED: DepositTerms = { ...TERMS, settlementMode: 'settled', settlementAsset: 'EUR' };
const READING: DepositReading = {
  status: 'completed',
  network: 'tron',
  asset: 'USDT-TRC20',
  txHash: 'h1',
  outputIndex: 0,
  amount: '5',
  settlement: null,
};
const CREDIT = { amount: 5_000_000n, asset: 'USDT-TRC20' };

function standing(state: DepositState, generation = 2): DepositStanding {
  const credited = state === 'credited' || state === 'final' || state === 'orphaned';
  return {
    state,
    generation,
    creditedAmount: credited ? CREDIT.amount : null,
    creditedAsset: credited ? CREDIT.asset : null,
    txHash: 'h1',
    outputIndex: 0,
  };
}

/** The plan in one line: where it walks, in which generation, and what it credits or flags. */
function words(plan: DepositPlan | null): string {
  if (plan === null) return 'as read';
  const path =
    plan.moves.map((move) => move.to + (move.reason === null ? '' : `(${move.reason})`)).join(' ') || 'stays';
  return [path, `g${plan.generation}`, plan.credit && `+${plan.credit.amount}`, plan.flag && `!${plan.flag}`]
    .filter(Boolean)
    .join(' ');
}

const STATUSES = ['seen', 'confirming', 'completed', 'failed', 'replaced', 'mystery'] as const;
type Row = readonly [DepositState, ...(readonly string[])];

// One row a state; columns as in STATUSES.
const ROWS: readonly Row[] = [
  [
    'noticed',
    'confirming g2',
    'confirming g2',
    'confirming credited final g2 +5000000',
    'rejected(failed_at_provider) g2',
    'confirming dropped(replaced) g2',
    'stays g2 !unknown_provider_status',
  ],
  [
    'confirming',
    'stays g2',
    'stays g2',
    'credited final g2 +5000000',
    'rejected(failed_at_provider) g2',
    'dropped(replaced) g2',
    'stays g2 !unknown_provider_status',
  ],
  [
    'credited',
    'stays g2',
    'stays g2',
    'stays g2',
    'stays g2 !failed_after_credit',
    'stays g2 !failed_after_credit',
    'stays g2 !unknown_provider_status',
  ],
  [
    'final',
    'stays g2',
    'stays g2',
    'stays g2',
    'stays g2 !failed_after_credit',
    'stays g2 !failed_after_credit',
    'stays g2 !unknown_provider_status',
  ],
  [
    'orphaned',
    'confirming g3',
    'confirming g3',
    'confirming credited final g3 +5000000',
    'stays g2',
    'stays g2',
    'stays g2 !unknown_provider_status',
  ],
  [
    'rejected',
    'stays g2',
    'stays g2',
    'stays g2 !completed_after_rejection',
    'stays g2',
    'stays g2',
    'stays g2 !unknown_provider_status',
  ],
  [
    'dropped',
    'confirming g3',
    'confirming g3',
    'confirming credited final g3 +5000000',
    'stays g2',
    'stays g2',
    'stays g2 !unknown_provider_status',
  ],
  ['parked', 'stays g2', 'stays g2', 'stays g2', 'stays g2', 'stays g2', 'stays g2 !unknown_provider_status'],
];

it('has a row for every state', () => {
  expect(ROWS.map(([state]) => state).sort()).toEqual([...DEPOSIT_STATES].sort());
});

describe.each(ROWS.map(([state, ...plans]) => ({ state, plans })))('a deposit that is $state', ({ state, plans }) => {
  it.each(STATUSES.map((status, n) => ({ status, plan: plans[n] })))('read as $status: $plan', ({ status, plan }) => {
    expect(words(planDeposit(standing(state), TERMS, { ...READING, status }))).toBe(plan);
  });
});

describe('a completed record', () => {
  it.each<[string, DepositTerms, Partial<DepositReading>, string]>([
    ['of another network', TERMS, { network: 'ethereum' }, 'parked(wrong_network) g2'],
    ['of another asset', TERMS, { asset: 'USDТ-TRC20' }, 'parked(wrong_asset) g2'],
    ['without transaction', TERMS, { txHash: null }, 'parked(no_transaction) g2'],
    ['without position', TERMS, { outputIndex: null }, 'parked(no_transaction) g2'],
    ['of no amount', TERMS, { amount: '0.000' }, 'rejected(zero_amount) g2'],
    ['of too many digits', TERMS, { amount: '0.0000001' }, 'parked(amount_too_precise) g2'],
    ['of an amount outside the grammar', TERMS, { amount: '-5' }, 'parked(amount_grammar) g2'],
    ['of more than fits', TERMS, { amount: '9223372036854.775808' }, 'parked(amount_out_of_range) g2'],
    [
      'of as much as fits',
      TERMS,
      { amount: '9223372036854.775807' },
      'confirming credited final g2 +9223372036854775807',
    ],
    ['not settled yet', SETTLED, {}, 'confirming(awaiting_settlement) g2'],
    ['settled', SETTLED, { settlement: { asset: 'EUR', amount: '4.6' } }, 'confirming credited final g2 +460'],
    [
      'settled in another currency',
      SETTLED,
      { settlement: { asset: 'USD', amount: '4.6' } },
      'parked(wrong_settlement_asset) g2',
    ],
    ['settled for nothing', SETTLED, { settlement: { asset: 'EUR', amount: '0' } }, 'rejected(zero_amount) g2'],
    [
      'settled too precisely',
      SETTLED,
      { settlement: { asset: 'EUR', amount: '4.601' } },
      'parked(amount_too_precise) g2',
    ],
    [
      'settled although taken as the token',
      TERMS,
      { settlement: { asset: 'EUR', amount: '4.6' } },
      'confirming credited final g2 +5000000',
    ],
  ])('%s', (_name, terms, reading, plan) => {
    expect(words(planDeposit(standing('noticed'), terms, { ...READING, ...reading }))).toBe(plan);
  });

  it.each<[string, DepositTerms, Partial<DepositReading>, string | null]>([
    ['agrees', TERMS, { amount: '5.00' }, null],
    ['has another amount', TERMS, { amount: '5.01' }, 'amount_changed_after_credit'],
    ['has another transaction', TERMS, { txHash: 'h2' }, 'transaction_changed_after_credit'],
    ['has another position', TERMS, { outputIndex: 1 }, 'transaction_changed_after_credit'],
    ['has another asset', TERMS, { asset: 'USDC-ETH' }, 'wrong_asset_after_credit'],
    ['has another settlement', SETTLED, { settlement: { asset: 'EUR', amount: '5' } }, 'amount_changed_after_credit'],
  ])('that comes after the credit and %s moves nothing', (_name, terms, reading, flag) => {
    for (const state of ['credited', 'final'] as const) {
      const plan = planDeposit(standing(state), terms, { ...READING, ...reading });
      expect(plan).toEqual({ moves: [], generation: 2, credit: null, flag });
    }
  });
});

describe('parking, and a second record of an output', () => {
  it.each<[DepositState, string, string, string]>([
    ['noticed', 'parked(why) g2', 'confirming dropped(same_output) g2', 'parked(output_differs) g2'],
    ['confirming', 'parked(why) g2', 'dropped(same_output) g2', 'parked(output_differs) g2'],
    ['dropped', 'confirming parked(why) g3', 'stays g2', 'confirming parked(output_differs) g3'],
    ['orphaned', 'confirming parked(why) g3', 'stays g2', 'confirming parked(output_differs) g3'],
    ['credited', 'as read', 'as read', 'as read'],
    ['final', 'as read', 'as read', 'as read'],
    ['rejected', 'as read', 'as read', 'as read'],
    ['parked', 'as read', 'as read', 'as read'],
  ])('%s', (state, parked, same, other) => {
    expect(words(planParking(standing(state), 'why'))).toBe(parked);
    expect(words(planCopy(standing(state), true))).toBe(same);
    expect(words(planCopy(standing(state), false))).toBe(other);
  });
});

it('whatever is read, each step is a legal move, credits stand with their move, and nothing is taken', () => {
  for (const state of DEPOSIT_STATES) {
    for (const status of STATUSES) {
      for (const amount of ['5', '0', '1e3', '0.0000001']) {
        const plans = [
          planDeposit(standing(state), TERMS, { ...READING, status, amount }),
          planCopy(standing(state), true),
          planCopy(standing(state), false),
          planParking(standing(state), 'why'),
        ];
        for (const plan of plans.filter((each) => each !== null)) {
          let from = state;
          for (const { to } of plan.moves) {
            expect([from, to, mayMove(DEPOSIT_MOVES, from, to)]).toEqual([from, to, true]);
            from = to;
          }
          expect(plan.moves.some((move) => move.to === 'credited')).toBe(plan.credit !== null);
          expect(plan.credit === null || plan.credit.amount > 0n).toBe(true);
        }
      }
    }
  }
});
