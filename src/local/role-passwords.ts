import { randomBytes } from 'node:crypto';
import { withClient } from './postgres.js';

/** The roles that log in, `sverka_<role>` in the database; migrations make them without a password. */
export const LOGIN_ROLES = ['worker', 'gateway', 'relay', 'console', 'cabinet', 'reports', 'simulators'] as const;
export type LoginRole = (typeof LOGIN_ROLES)[number];

/**
 * Gives each role a random password, and answers one URL per role for the database of `ownerUrl`.
 * Roles belong to the whole cluster: a stack that already runs on the same cluster loses its passwords.
 */
export async function setRolePasswords(ownerUrl: string): Promise<Record<LoginRole, string>> {
  const urls: [LoginRole, string][] = [];
  await withClient(ownerUrl, async (client) => {
    for (const role of LOGIN_ROLES) {
      const password = randomBytes(24).toString('base64url');
      await client.query(`ALTER ROLE sverka_${role} PASSWORD ${client.escapeLiteral(password)}`);
      urls.push([role, urlOf({ ownerUrl, role, password })]);
    }
  });
  return Object.fromEntries(urls) as Record<LoginRole, string>;
}

/** The same server and database as `ownerUrl`, as one of our roles. */
export function urlOf(input: { ownerUrl: string; role: LoginRole; password: string }): string {
  const url = new URL(input.ownerUrl);
  url.username = `sverka_${input.role}`;
  url.password = input.password;
  return url.href;
}
