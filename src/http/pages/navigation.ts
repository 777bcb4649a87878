import type { Audience, Role } from './call.js';
import type { Word } from './words.js';

export interface NavLink {
  readonly href: string;
  readonly word: Word;
  /** Shown to these alone; absent to all. */
  readonly roles?: readonly Role[];
}

export interface NavSection {
  readonly title: Word | null;
  readonly links: readonly NavLink[];
}

/** Where the pages of an audience begin. */
export function homeOf(audience: Audience): '/operator' | '/cabinet' {
  return audience === 'console' ? '/operator' : '/cabinet';
}

/** The side of the operator console. */
export const OPERATOR_NAV: readonly NavSection[] = [
  { title: null, links: [{ href: '/operator', word: 'home' }] },
  {
    title: 'section_work',
    links: [
      { href: '/operator/decisions', word: 'nav_unknown' },
      { href: '/operator/deadletters?state=open', word: 'nav_dead_letters' },
      { href: '/operator/alerts?state=open', word: 'nav_alerts' },
    ],
  },
  {
    title: 'section_money',
    links: [
      { href: '/operator/deposits', word: 'nav_deposits' },
      { href: '/operator/issuances', word: 'nav_issuances' },
      { href: '/operator/withdrawals', word: 'nav_withdrawals' },
      { href: '/operator/balances', word: 'nav_balances' },
    ],
  },
  {
    title: 'section_setup',
    links: [
      { href: '/operator/merchants', word: 'nav_merchants' },
      { href: '/operator/terms', word: 'nav_terms' },
      { href: '/operator/passkeys', word: 'nav_passkeys', roles: ['approver'] },
      { href: '/operator/users', word: 'nav_users', roles: ['admin', 'auditor'] },
    ],
  },
];

/** The row on top of the cabinet. */
export const CABINET_NAV: readonly NavLink[] = [
  { href: '/cabinet', word: 'nav_wallet' },
  { href: '/cabinet/statement', word: 'nav_statement' },
  { href: '/cabinet/addresses', word: 'nav_addresses' },
  { href: '/cabinet/deposits', word: 'nav_deposits' },
  { href: '/cabinet/cards', word: 'nav_cards' },
  { href: '/cabinet/withdrawals', word: 'nav_withdrawals' },
];
