/** Of the merchant's cabinet; as shell-words.ts says. */
export const CABINET_WORDS = {
  balances: ['Balances', 'Остатки'],
  available: ['available', 'доступно'],
  held: ['Held', 'Удержано'],
  incoming: ['Incoming, not final yet', 'Поступает, ещё не окончательно'],
  on_cards: ['On cards', 'На картах'],
  owed: ['Owed to us', 'Задолженность перед нами'],
  journal_read: ['Journal read', 'Журнал прочитан'],
  wallet_empty: [
    'Nothing has moved in this book yet. A deposit to one of your addresses is the first movement.',
    'В этой книге ещё не было движений. Первым будет пополнение на один из ваших адресов.',
  ],
  wallet_statement: ['Statement', 'Выписка'],
} as const satisfies Record<string, readonly [en: string, ru: string]>;
