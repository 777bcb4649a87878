// Brings DATABASE_URL (its owner's) to the newest schema, then gives each role the password that the environment names:
// `SVERKA_<ROLE>_PASSWORD`. Without it a role keeps what it has; a new one cannot log in until it is given one.
// `node --import tsx deploy/migrate.mjs`. Safe to run again, also by two at once.
import { migrate } from '../src/db/migrate.ts';
import { withClient } from '../src/local/postgres.ts';
import { LOGIN_ROLES } from '../src/local/role-passwords.ts';

const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) throw new Error('DATABASE_URL is not set: name the database, as its owner.');
const { applied } = await migrate(databaseUrl);
process.stdout.write(applied.length === 0 ? 'The schema is the newest.\n' : `Applied ${applied.join(', ')}.\n`);
await withClient(databaseUrl, async (client) => {
  for (const role of LOGIN_ROLES) {
    const password = process.env[`SVERKA_${role.toUpperCase()}_PASSWORD`];
    if (!password) continue;
    await client.query(`alter role sverka_${role} password ${client.escapeLiteral(password)}`);
    process.stdout.write(`sverka_${role} has its password.\n`);
  }
});
