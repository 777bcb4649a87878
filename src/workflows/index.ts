export { deposit } from './deposit.js';
export { depositAddress } from './deposit-address.js';
export { depositReconcile } from './deposit-reconcile.js';
export { driftCheck } from './drift-check.js';
export { fullCheck } from './full-check.js';
export { healthWatch } from './health-watch.js';
export { inboxSweep } from './inbox-sweep.js';
