import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '@temporalio/client';
import type { WorkerWorld } from '../support/worker-world.js';

const WITHIN_MS = 90_000;

/** Waits for the end of that workflow; asks again when Temporal had no time to answer. */
export async function resultOf({ temporal }: WorkerWorld, workflowId: string): Promise<unknown> {
  for (const end = Date.now() + WITHIN_MS; ; await pause(200)) {
    try {
      return await temporal.client.workflow.getHandle(workflowId).result();
    } catch (error) {
      if (!(error instanceof ServiceError) || Date.now() >= end) throw error;
    }
  }
}
