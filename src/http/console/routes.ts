import type { Role } from '../pages/call.js';
import { commonRoutes } from '../pages/common-routes.js';
import { FORM_BYTES_MAX } from '../pages/form-body.js';
import { type PageRoute, signedRoute } from '../pages/page-route.js';
import { type ConsoleDeps, DECIDERS } from './console-deps.js';
import { alertsPage } from './pages/alerts-page.js';
import { balanceCheckPage, balanceChecksPage } from './pages/balance-checks-page.js';
import { balanceSourcePage, checkBalancesNow, decideBalanceSource } from './pages/balance-source-page.js';
import { balanceAddressesPage, balancesPage } from './pages/balances-page.js';
import { deadLetterPage, decideDeadLetter } from './pages/dead-letter-page.js';
import { deadLettersPage } from './pages/dead-letters-page.js';
import { decisionsPage } from './pages/decisions-page.js';
import { decideDeposit, depositPage } from './pages/deposit-page.js';
import { depositsPage } from './pages/deposits-page.js';
import { homePage } from './pages/home-page.js';
import { decideIssuance, issuancePage } from './pages/issuance-page.js';
import { issuancesPage } from './pages/issuances-page.js';
import { createKeyAct, merchantPage, revokeKeyAct } from './pages/merchant-page.js';
import { createMerchantAct, merchantsPage } from './pages/merchants-page.js';
import {
  addPasskeyAct,
  approvalOptions,
  passkeysPage,
  registrationOptions,
  removePasskeyAct,
} from './pages/passkeys-page.js';
import { searchPage } from './pages/search-page.js';
import { setOfferAct, setPolicyAct, termsPage } from './pages/terms-page.js';
import { tracePage } from './pages/trace-page.js';
import {
  createLinkAct,
  linkIdentityAct,
  removePasskeyOfAct,
  revokeSessionsAct,
  setDisabledAct,
  setRolesAct,
  unlinkIdentityAct,
  userPage,
} from './pages/user-page.js';
import { createUserAct, usersPage } from './pages/users-page.js';
import { decideWithdrawal, proofFile, withdrawalPage } from './pages/withdrawal-page.js';
import { withdrawalsPage } from './pages/withdrawals-page.js';
import { PROOF_BYTES_MAX } from './withdrawal-decision.js';

type Handler = Parameters<typeof signedRoute<ConsoleDeps>>[0]['handler'];

/** Everybody of ours: the auditor reads all and changes nothing. */
const READERS: readonly Role[] = ['operator', 'approver', 'admin', 'auditor'];
const APPROVERS: readonly Role[] = ['approver'];
const ADMINS: readonly Role[] = ['admin'];
const WITHDRAWAL_DECIDERS: readonly Role[] = ['operator', 'approver'];
/** Who sees who may do what. */
const OVERSEERS: readonly Role[] = ['admin', 'auditor'];

/** A page that reads. */
const read = (path: string, handler: Handler, of: { names?: string; roles?: readonly Role[] } = {}) =>
  signedRoute<ConsoleDeps>({ method: 'GET', path, roles: of.roles ?? READERS, names: of.names ?? null, handler });
/** A form that changes something. */
const act = (path: string, handler: Handler, of: { names?: string; roles: readonly Role[] }) =>
  signedRoute<ConsoleDeps>({ method: 'POST', path, roles: of.roles, names: of.names ?? null, handler });

/** Every page of the console, who may see it, and what its id names. What has no row here is not served. */
export const CONSOLE_ROUTES: readonly PageRoute<ConsoleDeps>[] = [
  ...commonRoutes<ConsoleDeps>('console', () => CONSOLE_ROUTES),
  read('/operator', homePage),
  read('/operator/search', searchPage),
  read('/operator/decisions', decisionsPage),
  read('/operator/trace/:id', tracePage, { names: 'anything' }),

  read('/operator/deposits', depositsPage),
  read('/operator/deposits/:id', depositPage, { names: 'deposit' }),
  act('/operator/deposits/:id/decisions', decideDeposit, { names: 'deposit', roles: DECIDERS }),
  read('/operator/issuances', issuancesPage),
  read('/operator/issuances/:id', issuancePage, { names: 'issuance' }),
  act('/operator/issuances/:id/decisions', decideIssuance, { names: 'issuance', roles: DECIDERS }),
  read('/operator/withdrawals', withdrawalsPage),
  read('/operator/withdrawals/:id', withdrawalPage, { names: 'withdrawal' }),
  {
    ...act('/operator/withdrawals/:id/decisions', decideWithdrawal, {
      names: 'withdrawal',
      roles: WITHDRAWAL_DECIDERS,
    }),
    bodyBytesMax: PROOF_BYTES_MAX + FORM_BYTES_MAX,
  },
  read('/operator/withdrawals/:id/proofs/:proof', proofFile, { names: 'withdrawal' }),
  read('/operator/deadletters', deadLettersPage),
  read('/operator/deadletters/:id', deadLetterPage, { names: 'dead letter' }),
  act('/operator/deadletters/:id/decisions', decideDeadLetter, { names: 'dead letter', roles: DECIDERS }),
  read('/operator/alerts', alertsPage),

  read('/operator/balances', balancesPage),
  read('/operator/balances/addresses', balanceAddressesPage),
  read('/operator/balances/checks', balanceChecksPage),
  read('/operator/balances/checks/:id', balanceCheckPage, { names: 'balance check' }),
  read('/operator/balances/:id', balanceSourcePage, { names: 'balance source' }),
  act('/operator/balances/:id/decisions', decideBalanceSource, { names: 'balance source', roles: DECIDERS }),
  act('/operator/balances/:id/check', checkBalancesNow, { names: 'balance source', roles: DECIDERS }),

  read('/operator/merchants', merchantsPage),
  act('/operator/merchants', createMerchantAct, { roles: ADMINS }),
  read('/operator/merchants/:id', merchantPage, { names: 'merchant' }),
  act('/operator/merchants/:id/keys', createKeyAct, { names: 'merchant', roles: ADMINS }),
  act('/operator/keys/:id/revoke', revokeKeyAct, { names: 'key', roles: ADMINS }),

  read('/operator/terms', termsPage),
  act('/operator/terms/offers', setOfferAct, { roles: ADMINS }),
  act('/operator/terms/policy', setPolicyAct, { roles: ADMINS }),

  read('/operator/passkeys', passkeysPage, { roles: APPROVERS }),
  act('/operator/passkeys', addPasskeyAct, { roles: APPROVERS }),
  act('/operator/passkeys/options', registrationOptions, { roles: APPROVERS }),
  act('/operator/passkeys/challenge', approvalOptions, { roles: APPROVERS }),
  act('/operator/passkeys/remove', removePasskeyAct, { roles: APPROVERS }),

  read('/operator/users', usersPage, { roles: OVERSEERS }),
  act('/operator/users', createUserAct, { roles: ADMINS }),
  read('/operator/users/:id', userPage, { names: 'user', roles: OVERSEERS }),
  act('/operator/users/:id/roles', setRolesAct, { names: 'user', roles: ADMINS }),
  act('/operator/users/:id/disabled', setDisabledAct, { names: 'user', roles: ADMINS }),
  act('/operator/users/:id/sessions', revokeSessionsAct, { names: 'user', roles: ADMINS }),
  act('/operator/users/:id/link', createLinkAct, { names: 'user', roles: ADMINS }),
  act('/operator/users/:id/identities', linkIdentityAct, { names: 'user', roles: ADMINS }),
  act('/operator/users/:id/identities/unlink', unlinkIdentityAct, { names: 'user', roles: ADMINS }),
  act('/operator/users/:id/passkeys/remove', removePasskeyOfAct, { names: 'user', roles: ADMINS }),
];
