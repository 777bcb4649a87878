import { dirname, join, resolve } from 'node:path';
import { isLogin } from '../contracts/values.js';
import { createLoginLink, takeLoginLink } from '../db/login-links.js';
import { findUser } from '../db/users.js';
import { loginLink, readLoginFile, removeLoginFile, writeLoginFile } from '../local/login-file.js';
import { REPOSITORY } from '../local/paths.js';
import type { Context } from './command.js';
import { CliFailure } from './failure.js';
import { machineAuthor } from './machine-author.js';

/**
 * Signs a person in by the own one-time link of the local run, which is used up, and leaves a fresh one; answers the
 * person's id. Throws `notPermitted` where there is no unused link of that person.
 */
export async function signIn(context: Context, login: string): Promise<string> {
  const file = loginFile(context, login);
  const token = readLoginFile(file);
  const db = context.db();
  const userId = token === null ? null : await takeLoginLink(db, token);
  if (userId === null) {
    const user = await findUser(db, login);
    if (user === null) throw new CliFailure('notPermitted', 'There is no person of this login, so nobody can decide.');
    if (user.disabledAt !== null) throw new CliFailure('notPermitted', 'This person’s login is disabled.');
    removeLoginFile(file);
    const message = `There is no unused link of this login. A fresh one: \`sverka users login-link ${login}\`.`;
    throw new CliFailure('notPermitted', message);
  }
  await writeFreshLink(context, login);
  const named = await findUser(db, login);
  if (named?.id !== userId) throw new CliFailure('notPermitted', 'The link in this file is that of another person.');
  return userId;
}

/** Makes a fresh link, which takes the place of older ones, and leaves it for the person; answers the file. */
export async function writeFreshLink(context: Context, login: string): Promise<string> {
  const file = loginFile(context, login);
  const token = await createLoginLink(context.db(), login, machineAuthor());
  if (token === null) {
    throw new CliFailure('notFound', 'There is no person of this login who may sign in.');
  }
  writeLoginFile(file, await linkFor(context, login, token));
  return file;
}

/** The page of the link; a run that has no pages yet leaves the token alone, which a decision needs. */
async function linkFor(context: Context, login: string, token: string): Promise<string> {
  const { run } = context.profile();
  const user = await findUser(context.db(), login);
  const pages = user?.roles.includes('requester') ? run?.cabinetUrl : run?.consoleUrl;
  return pages === undefined ? token : loginLink(pages, token);
}

/** As `run.json` says; a person who was made later has the file beside the others. */
function loginFile(context: Context, login: string): string {
  const { run, file } = context.profile();
  if (run === null) {
    throw new CliFailure('notPermitted', 'Link files are the local run’s: elsewhere a person signs in at the console.');
  }
  if (!isLogin(login)) throw new CliFailure('usage', 'A login is a-z, 0-9, `.`, `_`, `-`.');
  const named = run.logins?.find(({ user }) => user === login);
  return named ? resolve(REPOSITORY, named.linkFile) : join(dirname(file), 'login', login);
}
