import { toAmount, toTime } from '../../contracts/values.js';
import { type CardFeeRecord, cardFeePosition, findCardFee, listCardFees, setCardFee } from '../../db/card-fees.js';
import { decimalsOf, findAsset } from '../../domain/assets.js';
import { CARD_PRODUCTS } from '../../domain/card.js';
import { parseAmount } from '../../domain/money.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type CommandInput, textOption } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { machineAuthor } from '../machine-author.js';
import { utc } from '../output.js';
import { answerDryRun } from '../resources.js';
import { requireMerchant } from './merchants.js';

export const listProductsCommand: Command = {
  path: ['products', 'list'],
  summary: 'card products by asset, and what making a card of each costs; one without a fee is not offered',
  options: [
    { flags: '--merchant <id>', description: 'what counts for this merchant: his own fees, and those for all' },
  ],
  examples: ['products list', 'products list --merchant mer_01kb… --json'],
  async run(context, input) {
    const merchantId = textOption(input, 'merchant');
    if (merchantId !== null) await requireMerchant(context.db(), merchantId);
    return answerList(context, {
      scope: ['products', 'list', `merchant=${merchantId ?? ''}`],
      find: (page) => listCardFees(context.db(), { merchantId }, page),
      show: toProductFee,
      position: cardFeePosition,
      columns: [
        { title: 'PRODUCT' },
        { title: 'FEE', align: 'right' },
        { title: 'ASSET' },
        { title: 'MERCHANT' },
        { title: 'SET BY' },
        { title: 'SET (UTC)' },
      ],
      cells: (fee) => [
        fee.product,
        fee.fee.amount,
        fee.fee.asset,
        fee.merchant_id ?? 'all',
        fee.set_by,
        utc(fee.set_at),
      ],
    });
  },
};

export const setFeeCommand: Command = {
  path: ['products', 'set-fee'],
  summary: 'what making a card of this product costs from now on; what is reserved keeps its fee',
  args: [
    { name: '<product>', description: 'which product', choices: CARD_PRODUCTS },
    { name: '<amount>', description: 'a decimal string; 0 is a fee, too' },
    { name: '<asset>', description: 'of the card and of the fee, such as USD' },
  ],
  options: [{ flags: '--merchant <id>', description: 'for this merchant alone; stands before the fee for all' }],
  examples: ['products set-fee instant 1.00 USD', 'products set-fee async 0.50 USD --merchant mer_01kb… --dry-run'],
  async run(context, input) {
    const { out, flags } = context;
    const db = context.db();
    const fee = feeOf(input);
    if (fee.merchantId !== null) await requireMerchant(db, fee.merchantId);
    const before = await findCardFee(db, fee);
    const { amount, asset } = toAmount(fee.amount, fee.asset);
    const whose = fee.merchantId === null ? 'for all' : `for ${fee.merchantId}`;
    if (flags.dryRun) {
      const would = `set the fee of ${fee.product} cards to ${amount} ${asset} ${whose}`;
      return answerDryRun(context, would, before && toProductFee(before));
    }
    const changed = await setCardFee(db, { ...fee, setBy: machineAuthor().actor });
    const after = await findCardFee(db, fee);
    if (after === null) throw new Error('A fee that was set is not there.');
    out.result({ ...toProductFee(after), changed, before: before && toAmount(before.amount, before.asset) }, () => {
      const said = changed ? out.mark.good('Set.') : 'It was so before.';
      out.line(`${said} A ${fee.product} card costs ${amount} ${asset} ${whose}.`);
    });
    return EXIT.done;
  },
};

function toProductFee(record: CardFeeRecord) {
  return {
    object: 'product_fee',
    product: record.product,
    merchant_id: record.merchantId,
    fee: toAmount(record.amount, record.asset),
    set_by: record.setBy,
    set_at: toTime(record.setAt),
  };
}

function feeOf(input: CommandInput) {
  const product = CARD_PRODUCTS.find((each) => each === argument(input, 0));
  const asset = argument(input, 2);
  if (product === undefined) throw new CliFailure('usage', `Products are ${CARD_PRODUCTS.join(' and ')}.`);
  if (!findAsset(asset)) throw new CliFailure('usage', 'The asset must be a listed one, such as USD.');
  const decimals = decimalsOf(asset);
  const amount = parseAmount(argument(input, 1), decimals);
  if (typeof amount !== 'bigint') {
    throw new CliFailure('usage', `The amount must be a decimal string with at most ${decimals} decimals, such as 1.`);
  }
  return { product, asset, amount, merchantId: textOption(input, 'merchant') };
}
