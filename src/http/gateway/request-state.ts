import type { RequestMemo } from '../../contracts/messages.js';
import { type RequestResource, toOpenRequest } from '../../contracts/request.js';
import type { Call } from './call.js';

/** A request that left no row: `in_progress` while a workflow of it runs (whose memo comes along), else `not_seen`. */
export async function openRequest(
  call: Pick<Call<unknown, unknown>, 'deps' | 'caller'>,
  id: string,
): Promise<{ body: RequestResource; running: Partial<RequestMemo> | null }> {
  const { book, merchantId } = call.caller;
  const running = await call.deps.starts.findRunning({ book, merchantId, requestId: id });
  return { body: toOpenRequest(id, running ? 'in_progress' : 'not_seen'), running };
}
