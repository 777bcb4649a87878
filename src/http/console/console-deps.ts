import type { PagesDeps } from '../pages/call.js';

/** What the pages of the operator console work with. */
export interface ConsoleDeps extends PagesDeps {
  /** Where requesters sign in. */
  readonly cabinetUrl: string;
  /** Null where no UI of Temporal is known. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
  /** What waits for longer is named. */
  readonly budgetMs: number;
}
