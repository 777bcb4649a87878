import type { Config } from '../config.js';
import { assertCreatesDeclared, type DeclaredProvider } from './creates.js';
import { CUSTODY_CREATES, type CustodyClient, createCustodyClient } from './custody/client.js';

export interface Providers {
  /** The client of that account; throws for one that is not configured. */
  custody(of: { book: string; account: string }): CustodyClient;
  close(): Promise<void>;
}

/** A client for each configured account. Refuses a provider whose creates are not declared (DESIGN 8). */
export function createProviders(config: Config): Providers {
  const custody = new Map<string, CustodyClient>();
  const declared: DeclaredProvider[] = [];
  for (const { provider, book, account, url, apiKey } of config.providers) {
    const client = createCustodyClient({ url, apiKey, timeoutMs: config.SVERKA_PROVIDER_TIMEOUT });
    custody.set(`${book}:${account}`, client);
    declared.push({ name: provider, client, creates: CUSTODY_CREATES });
  }
  assertCreatesDeclared(declared);
  return {
    custody({ book, account }) {
      const client = custody.get(`${book}:${account}`);
      if (!client)
        throw new Error(
          `No custody account ${account} is configured for the ${book} book; set its three SVERKA_ variables.`,
        );
      return client;
    },
    close: async () => {
      await Promise.all([...custody.values()].map((client) => client.close()));
    },
  };
}
