import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { Config } from '../config.js';
import { SEARCH_ATTRIBUTES } from '../contracts/messages.js';
import { createDataConverter } from './data-converter.js';

export interface Temporal {
  readonly client: Client;
  readonly connection: Connection;
  readonly taskQueue: string;
}

/** A server that does not answer is found out within this time. */
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * How to reach the server, the same for client and worker: TLS, API key and headers by the `TEMPORAL_*` variables that
 * Temporal's own tools read, or by a file of profiles where one is named; the address is always `TEMPORAL_ADDRESS`.
 */
export function temporalConnection(config: Config) {
  const { temporalEnv } = config;
  const disableFile = !('TEMPORAL_CONFIG_FILE' in temporalEnv || 'TEMPORAL_PROFILE' in temporalEnv);
  const { connectionOptions } = loadClientConnectConfig({ overrideEnvVars: temporalEnv, disableFile });
  return { ...connectionOptions, address: config.TEMPORAL_ADDRESS };
}

/**
 * A client that connects when first used, so that its process starts without Temporal. Without the SDK's retries:
 * only so does "no connection established" prove that nothing was sent (DESIGN 6).
 */
export function connectTemporal(config: Config): Temporal {
  const connection = Connection.lazy({
    ...temporalConnection(config),
    connectTimeout: CONNECT_TIMEOUT_MS,
    interceptors: [],
  });
  const dataConverter = createDataConverter(config);
  const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE, dataConverter });
  return { client, connection, taskQueue: config.SVERKA_TASK_QUEUE };
}

/** What Temporal's UI can be searched by from the first moment; the state follows from the workflow. */
export function searchAttributesOf(of: {
  kind: string;
  ref: string;
  book: string;
  merchantId?: string;
}): SearchAttributePair[] {
  const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
  const { kind, ref, book, merchantId } = of;
  return [
    { key: keyword(SEARCH_ATTRIBUTES.kind), value: kind },
    { key: keyword(SEARCH_ATTRIBUTES.ref), value: ref },
    { key: keyword(SEARCH_ATTRIBUTES.book), value: book },
    ...(merchantId === undefined ? [] : [{ key: keyword(SEARCH_ATTRIBUTES.merchant), value: merchantId }]),
  ];
}
