import { addressesAtProvider, addressesInRows, reserveAgain, startAll, untilMade, wishMany } from '../address-truth.js';
import type { Flow } from '../flow.js';

/** A deposit address for a merchant: reserved, created once. */
export const addressFlow: Flow = {
  name: 'address',
  activities: ['databaseReserveDepositAddress', 'providerCreateDepositAddress'],
  atOnce: 18,
  async arrange(world, count) {
    const inputs = await wishMany(world, count);
    return {
      start: () => startAll(world, inputs),
      finish: () => untilMade(world, inputs),
      again: () => reserveAgain(world, inputs),
    };
  },
  truth: addressesAtProvider,
  ours: addressesInRows,
};
