import type { Config, ProviderName } from '../config.js';
import { assertCreatesDeclared, type CreateDeclarations } from './creates.js';
import { CUSTODY_CREATES, type CustodyClient, createCustodyClient } from './custody/client.js';
import { createIssuerClient, ISSUER_CREATES, type IssuerClient } from './issuer/client.js';
import { createPertClient, PERT_CREATES, type PertClient } from './pert/client.js';

/** Which account of a provider is meant: `{book: 'live', account: 'main-live'}`. */
export interface AccountOf {
  readonly book: string;
  readonly account: string;
}

/** Per provider the client of an account; throws for one that is not configured. */
export interface Providers {
  custody(of: AccountOf): CustodyClient;
  issuer(of: AccountOf): IssuerClient;
  pert(of: AccountOf): PertClient;
  close(): Promise<void>;
}

interface ProviderClients {
  readonly custody: CustodyClient;
  readonly issuer: IssuerClient;
  readonly pert: PertClient;
}

type Making<Client> = {
  create(options: { url: string; apiKey: string; timeoutMs: number }): Client;
  readonly creates: CreateDeclarations;
};

/** One line a provider. */
const MAKINGS: { readonly [Name in ProviderName]: Making<ProviderClients[Name]> } = {
  custody: { create: createCustodyClient, creates: CUSTODY_CREATES },
  issuer: { create: createIssuerClient, creates: ISSUER_CREATES },
  pert: { create: createPertClient, creates: PERT_CREATES },
};

/** A client for each configured account. Refuses a provider whose creates are not declared (DESIGN 8). */
export function createProviders(config: Config): Providers {
  const clients = {
    custody: clientsOf(config, 'custody'),
    issuer: clientsOf(config, 'issuer'),
    pert: clientsOf(config, 'pert'),
  };
  return {
    custody: (of) => pick(clients.custody, 'custody', of),
    issuer: (of) => pick(clients.issuer, 'issuer', of),
    pert: (of) => pick(clients.pert, 'pert', of),
    close: async () => {
      const all = Object.values(clients).flatMap((each) => [...each.values()]);
      await Promise.all(all.map((client) => client.close()));
    },
  };
}

function clientsOf<Name extends ProviderName>(config: Config, name: Name): ReadonlyMap<string, ProviderClients[Name]> {
  const { create, creates } = MAKINGS[name];
  const made = config.providers
    .filter(({ provider }) => provider === name)
    .map(({ book, account, url, apiKey }) => {
      const client = create({ url, apiKey, timeoutMs: config.SVERKA_PROVIDER_TIMEOUT });
      return [`${book}:${account}`, client] as const;
    });
  assertCreatesDeclared(made.map(([, client]) => ({ name, client, creates })));
  return new Map(made);
}

function pick<Client>(clients: ReadonlyMap<string, Client>, name: ProviderName, { book, account }: AccountOf): Client {
  const client = clients.get(`${book}:${account}`);
  if (client) return client;
  throw new Error(`No ${name} account ${account} is configured for the ${book} book; set its three SVERKA_ variables.`);
}
