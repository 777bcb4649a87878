import { join } from 'node:path';
import { connectTemporal, type Temporal } from '../../src/client/temporal.js';
import { loadConfig } from '../../src/config.js';
import { freePort } from '../../src/local/ports.js';
import type { BenchKeys } from './keys.js';
import { type BenchProcess, startProcess } from './processes.js';
import type { BenchDatabase, BenchServers } from './servers.js';
import { settingsFor } from './settings.js';

/** A worker in a process of its own, and a client that sends to its queue. */
export interface WorkerProcess {
  readonly process: BenchProcess;
  readonly temporal: Temporal;
  stop(): Promise<void>;
}

/** Starts `file` as a worker on that queue, with the product's own settings. */
export async function startWorkerProcess(
  servers: BenchServers,
  of: {
    readonly file: 'src/worker.ts' | 'bench/empty-worker.ts';
    readonly taskQueue: string;
    readonly database: BenchDatabase;
    readonly namespace: string;
    readonly custodyUrl: string;
    readonly issuer?: { readonly url: string; readonly keys: BenchKeys };
    readonly pertUrl?: string;
  },
): Promise<WorkerProcess> {
  const { taskQueue } = of;
  const settings = settingsFor(servers, { ...of, role: 'worker' });
  const started = await startProcess(servers, {
    file: of.file,
    name: `worker-${taskQueue}`,
    env: {
      ...settings,
      SVERKA_METRICS_PORT: String(await freePort()),
      SVERKA_LOG_FILE: join(servers.folder, `worker-${taskQueue}.jsonl`),
    },
  });
  const temporal = connectTemporal(loadConfig(settings));
  return {
    process: started,
    temporal,
    async stop() {
      await started.stop();
      await temporal.connection.close();
    },
  };
}
