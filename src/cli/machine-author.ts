import { userInfo } from 'node:os';
import type { Author } from '../db/author.js';
import { newTraceId } from '../telemetry/trace.js';

/** Who is kept with a change: the user of this machine, for the database role is everybody's. */
export function machineAuthor(): Author {
  return { actor: `cli:${userInfo().username}`, traceId: newTraceId() };
}
