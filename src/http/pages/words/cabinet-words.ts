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
  statement_of: [
    'What moved the wallet of {asset}, with the balance after each movement',
    'Что двигало кошелёк {asset}, с остатком после каждого движения',
  ],
  filter_subject: ['Id of a movement or subject', 'Id движения или объекта'],
  filter_customer: ['Customer', 'Клиент'],
  col_account: ['Account', 'Счёт'],
  address: ['Deposit address', 'Адрес пополнения'],
  address_not_yet: ['The address is not known yet.', 'Адрес ещё неизвестен.'],
  address_tag: ['Tag', 'Тег'],
  address_only: [
    'Send only {asset} on {network} here. Anything else may be lost.',
    'Отправляйте сюда только {asset} в сети {network}. Остальное может пропасть.',
  ],
  qr_alt: ['QR code of the deposit address beside it', 'QR-код адреса пополнения рядом'],
  card_unknown_text: [
    'Nothing is spent and nothing is lost: load and fee stay held until this is known. Waiting is safe.',
    'Ничего не потрачено и не потеряно: загрузка и комиссия удержаны, пока это не выяснится. Ждать безопасно.',
  ],
} as const satisfies Record<string, readonly [en: string, ru: string]>;
