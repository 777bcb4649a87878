import { findUser } from '../../db/users.js';
import { relativeToRepository } from '../../local/paths.js';
import { argument, type Command } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { answerDryRun } from '../resources.js';
import { writeFreshLink } from '../sign-in.js';

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
