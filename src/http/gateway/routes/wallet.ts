import { toOwner } from '../../../contracts/values.js';
import { toWallet, walletSchema } from '../../../contracts/wallet.js';
import { walletId } from '../../../db/new-id.js';
import { readWallet } from '../../../db/wallets.js';
import { defineRoute } from '../route.js';

export const getWallet = defineRoute({
  method: 'GET',
  path: '/v1/wallet',
  operationId: 'getWallet',
  summary: "Read the merchant's own wallet",
  tag: 'Wallet',
  query: {},
  answers: { 200: { description: 'One row per asset that ever moved.', schema: walletSchema } },
  handler: async ({ deps, caller }) => {
    const { balances, asOf } = await readWallet(deps.db, { ...caller, customerId: null });
    const owner = toOwner({ merchantId: caller.merchantId, customerId: null, customerRef: null });
    return { status: 200, body: toWallet({ id: walletId(caller.book, owner.id), owner, balances, asOf }) };
  },
});
