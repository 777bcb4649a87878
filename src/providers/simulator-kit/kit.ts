import { createFaultRegistry, type FaultRegistry, type OwnFaults } from './faults.js';
import {
  createOpenTransactionWatch,
  type OpenTransactionProbe,
  type OpenTransactionWatch,
} from './open-transactions.js';
import { createWebhookSender, type WebhookSender } from './webhooks.js';

/** Something that a call of the product made at this provider; the counterpart of "once". */
export interface Effect {
  readonly kind: string;
  /** The reference that the caller gave. */
  readonly reference: string;
  readonly id: string;
  readonly at: string;
}

/** What every simulator has: faults to make, webhooks to send, effects and requests to count. */
export interface SimulatorKit {
  readonly faults: FaultRegistry;
  readonly webhooks: WebhookSender;
  readonly openTransactions: OpenTransactionWatch;
  /** Notes that a call made something. */
  effect(effect: Omit<Effect, 'at'>): void;
  effects(): readonly Effect[];
  countRequest(name: string): void;
  requests(): Readonly<Record<string, number>>;
  reset(): void;
  close(): Promise<void>;
}

/** One kit per simulator; `countOpenTransactions` asks the product's database (left out: nothing is measured). */
export function createSimulatorKit(
  options: {
    readonly countOpenTransactions?: OpenTransactionProbe | undefined;
    readonly webhookRetryDelaysMs?: readonly number[] | undefined;
    /** Faults on calls that this provider alone can make. */
    readonly ownFaults?: OwnFaults | undefined;
  } = {},
): SimulatorKit {
  const faults = createFaultRegistry(options.ownFaults);
  const webhooks = createWebhookSender({ faults, retryDelaysMs: options.webhookRetryDelaysMs });
  const openTransactions = createOpenTransactionWatch(options.countOpenTransactions);
  const requests = new Map<string, number>();
  let effects: Effect[] = [];
  return {
    faults,
    webhooks,
    openTransactions,
    effect(effect) {
      effects.push({ ...effect, at: new Date().toISOString() });
    },
    effects: () => [...effects],
    countRequest(name) {
      requests.set(name, (requests.get(name) ?? 0) + 1);
    },
    requests: () => Object.fromEntries(requests),
    reset() {
      faults.clear();
      webhooks.reset();
      openTransactions.reset();
      requests.clear();
      effects = [];
    },
    close: () => webhooks.close(),
  };
}
