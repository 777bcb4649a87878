import {
  type IssuanceStanding,
  type IssuanceState,
  type IssuerReading,
  issuerAnswer,
  issuerContradiction,
  planIssuance,
} from '../../src/domain/issuance.js';

function standing(state: IssuanceState, providerRef: string | null = null): IssuanceStanding {
  return { id: 'iss_1', product: 'instant', asset: 'USD', loadAmount: 2_500n, state, providerRef };
}

function card(providerRef: string, of: Partial<IssuerReading> = {}): IssuerReading {
  const load = { amount: '25.00', asset: 'USD' };
  const made = { product: 'instant', status: 'active', declineReason: null, last4: '4242', expires: '2029-11', load };
  return { providerRef, reference: 'iss_1', ...made, ...of };
}

const planOf = (of: IssuanceStanding, ...cards: IssuerReading[]) => planIssuance(of, issuerAnswer(of, cards));

describe('what the issuer shows under our reference', () => {
  test('absence decides nothing, in any state', () => {
    for (const state of ['submitted', 'pending', 'unknown', 'active', 'failed', 'found_late'] as const) {
      expect(planOf(standing(state))).toEqual({ to: null, reason: null, flag: null });
    }
  });

  test('one card settles what waits; several are for a person', () => {
    expect(planOf(standing('unknown'), card('a')).to).toBe('active');
    expect(planOf(standing('unknown'), card('a'), card('b'))).toEqual({
      to: 'pending',
      reason: null,
      flag: 'several_cards',
    });
    expect(planOf(standing('pending'), card('a'), card('b', { status: 'declined' })).flag).toBe('several_cards');
    expect(planOf(standing('pending'), card('a', { status: 'declined' })).to).toBe('failed');
  });

  test('a second card beside the one that settled it is for a person, until it is closed', () => {
    const settled = standing('active', 'a');
    expect(planOf(settled, card('a'))).toEqual({ to: null, reason: null, flag: null });
    expect(planOf(settled, card('a'), card('b'))).toEqual({ to: null, reason: null, flag: 'second_card' });
    expect(planOf(settled, card('b')).flag).toBe('second_card');
    expect(planOf(settled, card('a'), card('b', { status: 'closed' })).flag).toBeNull();
    expect(issuerContradiction('second_card', issuerAnswer(settled, [card('a'), card('b')]))).toMatch(
      /^second_card: b /,
    );
  });

  test('after failure, one usable card or several are found late and move no money', () => {
    expect(planOf(standing('failed'), card('a')).to).toBe('found_late');
    const several = planOf(standing('failed'), card('a'), card('b'));
    expect(several).toEqual({ to: 'found_late', reason: 'found_at_issuer', flag: 'several_cards' });
    expect(planOf(standing('found_late'), card('a'), card('b', { status: 'closed' })).flag).toBe('found_late');
    expect(planOf(standing('failed'), card('a', { status: 'closed' }), card('b', { status: 'declined' }))).toEqual({
      to: null,
      reason: null,
      flag: null,
    });
  });
});
