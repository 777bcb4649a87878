/** Passkeys: approving what was seen, and a person's own. */
export const PASSKEY_WORDS = {
  step_up_hint: [
    'Approving asks for your passkey, for exactly what this page shows.',
    'При одобрении браузер попросит ваш ключ доступа — ровно для того, что показывает эта страница.',
  ],
  step_up_none: [
    'Approving needs a passkey, and you have none yet. Add one first:',
    'Для одобрения нужен ключ доступа, а у вас его ещё нет. Сначала добавьте:',
  ],
  step_up_noscript: [
    'Approving needs your passkey, and that needs JavaScript: turn it on for this site. All else works without.',
    'Для одобрения нужен ключ доступа, а ему — JavaScript: включите его здесь. Остальное работает без него.',
  ],
  step_up_needed: [
    'Not approved: your passkey was not asked. That needs JavaScript in this browser.',
    'Не одобрено: ключ доступа не был запрошен. Для этого в браузере нужен JavaScript.',
  ],
  step_up_refused: [
    'Not approved: what your passkey signed is not for this, was used, or is older than five minutes. Try again.',
    'Не одобрено: подписанное вашим ключом не для этого, использовано или старше пяти минут. Повторите.',
  ],
  step_up_failed: [
    'Not approved: the browser got no answer from a passkey of yours. Try again.',
    'Не одобрено: браузер не получил ответа от вашего ключа доступа. Повторите.',
  ],
  nav_passkeys: ['Passkeys', 'Ключи доступа'],
  passkey: ['Passkey', 'Ключ доступа'],
  passkeys_what: [
    'With a passkey you approve withdrawals: it signs for what you see, and verifies that it is you.',
    'Ключом доступа вы одобряете выводы: он подписывает то, что вы видите, и проверяет, что это вы.',
  ],
  passkeys_off: [
    'This installation approves without a passkey (SVERKA_APPROVAL_PASSKEY is off).',
    'В этой установке одобряют без ключа доступа (SVERKA_APPROVAL_PASSKEY выключен).',
  ],
  passkeys_none: ['No passkey yet.', 'Ключей доступа пока нет.'],
  passkey_added: ['Added', 'Добавлен'],
  passkey_used: ['Used', 'Использован'],
  passkey_add: ['Add a passkey', 'Добавить ключ доступа'],
  passkey_remove: ['Remove', 'Удалить'],
  passkey_failed: ['The browser made no passkey. Try again.', 'Браузер не создал ключ доступа. Повторите.'],
  passkey_refused: [
    'No passkey was added: its answer is not to this page, took more than five minutes, or it is known already.',
    'Ключ не добавлен: ответ не от этой страницы, занял больше пяти минут, или ключ уже известен.',
  ],
  passkey_noscript: ['A passkey needs JavaScript.', 'Ключу доступа нужен JavaScript.'],
  passkey_stale: [
    'A passkey is added within five minutes after signing in: sign out and in again.',
    'Ключ доступа добавляют в течение пяти минут после входа: выйдите и войдите снова.',
  ],
} as const satisfies Record<string, readonly [en: string, ru: string]>;
