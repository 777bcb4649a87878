import type { View } from '../view.js';
import { findWord } from '../words.js';
import { Icon, type IconName } from './icon.js';

/** What a state means for who reads it; colour is the third sign after icon and word. */
export type Tone = 'ok' | 'wait' | 'unk' | 'person' | 'fail' | 'test' | 'off';

const ICON_OF: Readonly<Record<Tone, IconName>> = {
  ok: 'ok',
  wait: 'wait',
  unk: 'unknown',
  person: 'person',
  fail: 'failed',
  test: 'test',
  off: 'off',
};

/** States of all subjects by what they mean; a state that is not here is over, with nothing to do. */
const TONES: Readonly<Record<string, Tone>> = {
  noticed: 'wait',
  confirming: 'wait',
  credited: 'wait',
  final: 'ok',
  parked: 'person',
  orphaned: 'fail',
  preparing: 'wait',
  reserved: 'wait',
  submitted: 'wait',
  pending: 'wait',
  unknown: 'unk',
  active: 'ok',
  completed: 'ok',
  approved: 'ok',
  requested: 'person',
  failed: 'fail',
  found_late: 'person',
  needs_person: 'person',
  open: 'fail',
  half_open: 'unk',
  done: 'ok',
  applied: 'ok',
  resolved: 'ok',
  loading: 'wait',
  running: 'wait',
  equal: 'ok',
  healed: 'ok',
  differs: 'wait',
  stale: 'wait',
};

export function toneOf(state: string): Tone {
  return TONES[state] ?? 'off';
}

/** A state as icon and word; `pill` once, beside a heading. */
export function StateMark(of: { view: View; state: string; tone?: Tone; pill?: boolean }) {
  const { view, state, tone = toneOf(state), pill = false } = of;
  const word = findWord(`state_${state}`) ?? findWord(state);
  return (
    <span class={`state state--${tone}${pill ? ' state--pill' : ''}`}>
      <Icon name={ICON_OF[tone]} />
      {word === null ? state : view.t(word)}
    </span>
  );
}

/** That no money of this is real. */
export function TestBadge({ view }: { view: View }) {
  return (
    <span class="state state--test state--pill">
      <Icon name="test" />
      {view.t('test_book')}
    </span>
  );
}
