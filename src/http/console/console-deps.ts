import type { BalanceSyncInput } from '../../contracts/balance-messages.js';
import type { DepositInput, WithdrawalInput } from '../../contracts/messages.js';
import type { PagesDeps, Role } from '../pages/call.js';

/** What the pages of the operator console work with. */
export interface ConsoleDeps extends PagesDeps {
  /** Where requesters sign in. */
  readonly cabinetUrl: string;
  /** Null where no UI of Temporal is known. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
  /** What waits for longer is named. */
  readonly budgetMs: number;
  /** Approving a withdrawal needs a passkey of who approves. */
  readonly approvalPasskey: boolean;
  /** Asks who applies a decision to look now; when Temporal is away, the sweep finds the decision. Never throws. */
  readonly nudge: {
    deposit(input: DepositInput): Promise<void>;
    issuance(of: { workflowId: string; traceId: string }): Promise<void>;
    withdrawal(input: WithdrawalInput): Promise<void>;
    balances(input: BalanceSyncInput): Promise<void>;
  };
}

/** Who decides on what waits (as sverka.decision_right has it, which refuses anybody else). */
export const DECIDERS: readonly Role[] = ['operator', 'admin'];

/** Where Temporal's UI shows that workflow; null where no UI is known. */
export function workflowLink({ temporalUi }: Pick<ConsoleDeps, 'temporalUi'>, workflowId: string): string | null {
  if (temporalUi === null) return null;
  const { url, namespace } = temporalUi;
  return `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
