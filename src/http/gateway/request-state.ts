import { type RequestResource, toOpenRequest } from '../../contracts/request.js';
import type { Call } from './call.js';

/** A request that left no row: `in_progress` while a workflow of it runs, else `not_seen`. */
export async function openRequest(
  call: Pick<Call<unknown, unknown>, 'deps' | 'caller'>,
  id: string,
): Promise<RequestResource> {
  const { book, merchantId } = call.caller;
  const running = await call.deps.starts.isRunning({ book, merchantId, requestId: id });
  return toOpenRequest(id, running ? 'in_progress' : 'not_seen');
}
