export { deposit } from './deposit.js';
export { depositAddress } from './deposit-address.js';
export { depositReconcile } from './deposit-reconcile.js';
export { inboxSweep } from './inbox-sweep.js';
