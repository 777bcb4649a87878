import { toTime } from '../../contracts/values.js';
import { listUsersForConsole, type UserListing } from '../../db/merchants-listing.js';
import { findUser } from '../../db/users.js';
import { relativeToRepository } from '../../local/paths.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, textOption } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { utc } from '../output.js';
import { answerDryRun } from '../resources.js';
import { writeFreshLink } from '../sign-in.js';

const FILTERS = [
  {
    name: 'role',
    flags: '--role <role>',
    description: 'with this role',
    choices: ['requester', 'operator', 'approver', 'admin', 'auditor'],
  },
  { name: 'merchant', flags: '--merchant <id>', description: 'requesters of this merchant' },
  { name: 'state', flags: '--state <state>', description: 'in this state', choices: ['active', 'disabled'] },
] as const;

export const listUsersCommand: Command = {
  path: ['users', 'list'],
  summary: 'everybody who can sign in, and who could, by login',
  options: FILTERS.map(({ name: _, ...option }) => option),
  examples: ['users list --role approver', 'users list --merchant mer_01kb… --json'],
  run(context, input) {
    const filters: Record<string, string> = {};
    for (const { name } of FILTERS) {
      const value = textOption(input, name);
      if (value !== null) filters[name] = value;
    }
    return answerList(context, {
      scope: ['users', 'list', ...FILTERS.map(({ name }) => `${name}=${filters[name] ?? ''}`)],
      find: (page) =>
        listUsersForConsole(context.db(), { ...page, filters, sort: { name: 'login', descending: false } }),
      show: toUser,
      position: ({ id }) => id,
      columns: [
        { title: 'ID' },
        { title: 'LOGIN' },
        { title: 'ROLES' },
        { title: 'MERCHANT' },
        { title: 'STATE' },
        { title: 'CREATED (UTC)' },
      ],
      cells: (user) => [
        user.id,
        user.login,
        user.roles.join(' '),
        user.merchant_id ?? '–',
        user.disabled_at === null ? 'active' : { text: 'disabled', mark: context.out.mark.warn },
        utc(user.created_at),
      ],
    });
  },
};

export const userLoginLinkCommand: Command = {
  path: ['users', 'login-link'],
  summary: 'a fresh one-time link of a person, in the file of the local run; older ones are void',
  args: [{ name: '<login>', description: 'such as operator' }],
  examples: ['users login-link operator'],
  async run(context, input) {
    const { out, flags } = context;
    const login = argument(input, 0);
    if ((await findUser(context.db(), login)) === null) {
      throw new CliFailure('notFound', 'There is no person of this login.');
    }
    if (flags.dryRun) return answerDryRun(context, `write a fresh login link for ${login}`, null);
    const file = relativeToRepository(await writeFreshLink(context, login));
    out.result({ object: 'login_link', user: login, link_file: file }, () => {
      out.line(`${out.mark.good('Wrote')} ${file}: valid once, for 12 hours.`);
    });
    return EXIT.done;
  },
};

function toUser({ id, login, roles, merchantId, createdAt, disabledAt }: UserListing) {
  return {
    ...{ object: 'user', id, login, roles, merchant_id: merchantId },
    ...{ created_at: toTime(createdAt), disabled_at: toTime(disabledAt) },
  };
}
