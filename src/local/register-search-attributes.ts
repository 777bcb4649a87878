import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from './temporal.js';

/** Numbers of the types in Temporal's API, which the package of the SDK does not export by name. */
const TYPES = { Keyword: 2, Bool: 5 } as const;
const CONNECT_WITHIN = '5s';

/**
 * Registers our search attributes at a server that somebody else runs. Throws when it cannot be reached, or knows one
 * of the names with another type: adding it again would be accepted silently, and every workflow would then hang.
 */
export async function registerSearchAttributes(input: { address: string; namespace: string }): Promise<void> {
  const connection = await reach(input.address);
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: input.namespace });
    const missing: Record<string, number> = {};
    for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
      const found = customAttributes?.[name];
      if (found === undefined || found === null) missing[name] = TYPES[type];
      else if (found !== TYPES[type]) {
        throw new Error(
          `Temporal knows the search attribute ${name} with another type. Remove it there; ${type} it is.`,
        );
      }
    }
    if (Object.keys(missing).length === 0) return;
    await connection.operatorService.addSearchAttributes({ namespace: input.namespace, searchAttributes: missing });
  } finally {
    await connection.close();
  }
}

async function reach(address: string): Promise<Connection> {
  try {
    return await Connection.connect({ address, connectTimeout: CONNECT_WITHIN });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`TEMPORAL_ADDRESS is ${address}, where nothing answers (${reason}). Start it there, or unset it.`);
  }
}
