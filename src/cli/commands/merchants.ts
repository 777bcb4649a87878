import { isMerchantName, MERCHANT_NAME_CHARACTERS_MAX, toOwner } from '../../contracts/values.js';
import { toWallet, type WalletResource } from '../../contracts/wallet.js';
import { createMerchant, findMerchant, listApiKeys, listMerchants, type MerchantRecord } from '../../db/merchants.js';
import { walletId } from '../../db/new-id.js';
import type { Tx } from '../../db/transaction.js';
import { readWallet } from '../../db/wallets.js';
import { BOOKS, type Book } from '../../domain/books.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type Context } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { machineAuthor } from '../machine-author.js';
import { utc } from '../output.js';
import { answerDryRun, toApiKey, toMerchant } from '../resources.js';
import { KEY_COLUMNS, keyCells } from './keys.js';

export const createMerchantCommand: Command = {
  path: ['merchants', 'create'],
  summary: 'make a merchant; keys are made with `keys create`',
  args: [{ name: '<name>', description: 'how people call it, 1 to 140 characters' }],
  examples: ['merchants create Nordwind', 'merchants create Nordwind --dry-run'],
  async run(context, input) {
    const { out } = context;
    const name = argument(input, 0).trim();
    if (!isMerchantName(name)) {
      const bounds = `1 to ${MERCHANT_NAME_CHARACTERS_MAX} characters, and no control characters`;
      throw new CliFailure('usage', `A merchant's name has ${bounds}.`);
    }
    const db = context.db();
    if (context.flags.dryRun) {
      await db.query('select 1');
      return answerDryRun(context, `make the merchant ${JSON.stringify(name)}`, null);
    }
    const made = await requireMerchant(db, await createMerchant(db, name, machineAuthor()));
    out.result(toMerchant(made), () => {
      out.line(`${out.mark.good('Made')} merchant ${made.id}.`);
      out.line(`A key for it: sverka keys create ${made.id} --book test`);
    });
    return EXIT.done;
  },
};

export const listMerchantsCommand: Command = {
  path: ['merchants', 'list'],
  summary: 'merchants, newest first',
  examples: ['merchants list', 'merchants list --limit 100 --json'],
  run: (context) =>
    answerList(context, {
      scope: ['merchants', 'list'],
      find: ({ after, limit }) => listMerchants(context.db(), { after, limit: limit + 1 }),
      show: toMerchant,
      position: (record) => record.id,
      columns: [{ title: 'ID' }, { title: 'NAME' }, { title: 'CREATED (UTC)' }],
      cells: (merchant) => [merchant.id, merchant.name, utc(merchant.created_at)],
    }),
};

export const showMerchantCommand: Command = {
  path: ['merchants', 'show'],
  summary: 'a merchant with its keys and its own wallets',
  args: [{ name: '<id>', description: 'mer_…' }],
  examples: ['merchants show mer_01kb…', 'merchants show mer_01kb… --book live'],
  async run(context, input) {
    const { out, flags } = context;
    const db = context.db();
    const merchant = await requireMerchant(db, argument(input, 0));
    const books = BOOKS.filter((book) => flags.book === null || flags.book === book);
    const keys = (await listApiKeys(db, merchant.id))
      .filter(({ book }) => books.includes(book))
      .map((key) => toApiKey(key));
    const wallets = await Promise.all(books.map((book) => walletOf(db, merchant.id, book)));
    const byBook = Object.fromEntries(wallets.map(({ book, wallet }) => [book, wallet]));
    out.result({ ...toMerchant(merchant), keys, wallets: byBook }, () => {
      out.facts([
        ['id', merchant.id],
        ['name', merchant.name],
        ['created', utc(merchant.createdAt)],
      ]);
      out.line(`\n${out.mark.bold('Keys')}`);
      out.table(
        KEY_COLUMNS,
        keys.map((key) => keyCells(context, key)),
      );
      out.line(`\n${out.mark.bold('Wallets')}`);
      showWallets(context, wallets);
    });
    return EXIT.done;
  },
};

/** The merchant of that id; throws `not_found`. */
export async function requireMerchant(db: Tx, id: string): Promise<MerchantRecord> {
  const found = await findMerchant(db, id);
  if (found === null) throw new CliFailure('notFound', 'There is no such merchant. `sverka merchants list` shows all.');
  return found;
}

async function walletOf(db: Tx, merchantId: string, book: Book): Promise<{ book: Book; wallet: WalletResource }> {
  const { balances, asOf } = await readWallet(db, { book, merchantId, customerId: null });
  const owner = toOwner({ merchantId, customerId: null, customerRef: null });
  return { book, wallet: toWallet({ id: walletId(book, merchantId), owner, balances, asOf }) };
}

function showWallets({ out }: Context, wallets: readonly { book: Book; wallet: WalletResource }[]): void {
  const amounts = ['AVAILABLE', 'HELD', 'INCOMING', 'ON CARDS', 'OWED', 'NET'];
  out.table(
    [{ title: 'BOOK' }, { title: 'ASSET' }, ...amounts.map((title) => ({ title, align: 'right' as const }))],
    wallets.flatMap(({ book, wallet }) =>
      wallet.balances.map((row) => [
        book,
        row.asset,
        ...[row.available, row.held, row.incoming, row.on_cards, row.receivable, row.net].map(({ amount }) => amount),
      ]),
    ),
  );
}
