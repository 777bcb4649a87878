/** Signing in by an identity provider, and what an admin does for it. */
export const SIGN_IN_WORDS = {
  sign_in_begin_again: ['Begin again', 'Начать снова'],
  sign_in_stale: ['This sign-in is over', 'Этот вход уже не действует'],
  sign_in_stale_more: [
    'It was used before, took longer than ten minutes, or was begun in another browser. Nobody was signed in.',
    'Он уже использован, длился больше десяти минут или начат в другом браузере. Никто не вошёл.',
  ],
  sign_in_not_taken: ['The sign-in was refused', 'Во входе отказано'],
  sign_in_not_taken_more: [
    'The identity provider refused, or its answer does not belong to this sign-in. Nobody was signed in.',
    'Провайдер входа отказал, или его ответ не от этого входа. Никто не вошёл.',
  ],
  sign_in_away: ['The identity provider does not answer', 'Провайдер входа не отвечает'],
  sign_in_away_more: [
    'Nobody can sign in until it does; who is signed in goes on working. Try again in a minute.',
    'Пока он не ответит, войти нельзя; кто уже вошёл, работает дальше. Повторите через минуту.',
  ],
  sign_in_unknown: ['Nobody here has this identity', 'Здесь нет никого с такой учётной записью'],
  sign_in_unknown_more: [
    'The identity provider knows you, but no person here is linked to you. Give an admin the subject below.',
    'Провайдер входа вас знает, но ни один человек здесь с вами не связан. Передайте администратору субъект ниже.',
  ],
  sign_in_unknown_admin: [
    'The admin opens your login under “Users” and links the subject under “Identities”. Then begin again.',
    'Администратор открывает ваш логин в «Пользователях» и связывает субъект в «Учётных записях». Затем начните снова.',
  ],
  identities: ['Identities', 'Учётные записи'],
  identities_none: ['No identity signs in as this person.', 'Ни одна учётная запись не входит как этот человек.'],
  identity_subject: ['Subject', 'Субъект'],
  identity_issuer: ['Issuer', 'Издатель'],
  identity_linked: ['Linked', 'Связана'],
  identity_subject_hint: [
    'As the page shows it that refuses a sign-in. All logins that ever had it are one person, for ever.',
    'Как показывает страница, отказавшая во входе. Все логины, у которых он когда-либо был, навсегда один человек.',
  ],
  identity_link: ['Link identity', 'Связать'],
  identity_unlink: ['Unlink', 'Отвязать'],
  identity_taken: [
    'This subject signs in as another person there. Unlink it first.',
    'Этот субъект входит здесь как другой человек. Сначала отвяжите его.',
  ],
  identity_bad: ['1 to 255 characters.', 'От 1 до 255 знаков.'],
} as const satisfies Record<string, readonly [en: string, ru: string]>;
