import type pg from 'pg';
import type { Config } from '../config.js';
import type { BalanceSyncInput } from '../contracts/balance-messages.js';
import type {
  CardChangeInput,
  CardLoadInput,
  DepositAddressInput,
  DepositInput,
  IssuanceInput,
  WithdrawalInput,
} from '../contracts/messages.js';
import type { AccountOf } from '../providers/create-providers.js';
import type { CustodyClient } from '../providers/custody/client.js';
import type { IssuerClient } from '../providers/issuer/client.js';
import type { KeyProvider } from '../providers/keys/key-provider.js';
import type { PertClient } from '../providers/pert/client.js';
import type { Log } from '../telemetry/log.js';

/** What activities are given by the worker: connections, never another activity. */
export interface ActivityDeps {
  readonly pool: pg.Pool;
  readonly config: Config;
  readonly log: Log;
  /** The client of that account; throws when the account is not configured. */
  custody(of: AccountOf): CustodyClient;
  issuer(of: AccountOf): IssuerClient;
  pert(of: AccountOf): PertClient;
  /** Opens what was sealed for the issuer alone: identities. */
  readonly keys: KeyProvider;
  /**
   * Asks a deposit's workflow to look; `start` begins one that never was, `leaveRunning` does no more than that.
   * Answers `closed` for one that has ended.
   */
  nudgeDeposit(input: DepositInput, options: { start: boolean; leaveRunning?: true }): Promise<'nudged' | 'closed'>;
  /** Begins an address's workflow again after Temporal's store was lost; an open or closed one is left alone. */
  startDepositAddress(input: DepositAddressInput): Promise<void>;
  /** Asks the run that follows an issuance to look; `closed` when it has ended. */
  nudgeIssuance(of: { workflowId: string; traceId: string }): Promise<'nudged' | 'closed'>;
  /** Begins the run of an issuance that has none; an open one is left alone, `closed` for one that has ended. */
  startIssuance(input: IssuanceInput): Promise<'started' | 'closed'>;
  /** Begins the run of a load that has none; an open one is left alone. */
  startCardLoad(input: CardLoadInput): Promise<void>;
  /** The same for a change of a card. */
  startCardChange(input: CardChangeInput): Promise<void>;
  /** Asks whoever mirrors the balances of an account to look; begins it where there is none. */
  nudgeBalances(input: BalanceSyncInput): Promise<void>;
  /** Begins a withdrawal's run where there is none, and asks the one that runs to look. */
  nudgeWithdrawal(input: WithdrawalInput): Promise<void>;
}
