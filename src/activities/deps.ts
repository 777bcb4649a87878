import type pg from 'pg';
import type { Config } from '../config.js';
import type { DepositAddressInput, DepositInput } from '../contracts/messages.js';
import type { AccountOf } from '../providers/create-providers.js';
import type { CustodyClient } from '../providers/custody/client.js';
import type { IssuerClient } from '../providers/issuer/client.js';
import type { Log } from '../telemetry/log.js';

/** What activities are given by the worker: connections, never another activity. */
export interface ActivityDeps {
  readonly pool: pg.Pool;
  readonly config: Config;
  readonly log: Log;
  /** The client of that account; throws when the account is not configured. */
  custody(of: AccountOf): CustodyClient;
  issuer(of: AccountOf): IssuerClient;
  /**
   * Asks a deposit's workflow to look; `start` begins one that never was, `leaveRunning` does no more than that.
   * Answers `closed` for one that has ended.
   */
  nudgeDeposit(input: DepositInput, options: { start: boolean; leaveRunning?: true }): Promise<'nudged' | 'closed'>;
  /** Begins an address's workflow again after Temporal's store was lost; an open or closed one is left alone. */
  startDepositAddress(input: DepositAddressInput): Promise<void>;
}
