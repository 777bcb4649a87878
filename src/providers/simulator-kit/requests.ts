import type { IncomingMessage } from 'node:http';

/** What someone asked of a simulator and it cannot do; answered as `status` with `{"error": code, "message"}`. */
export class SimulatorRefusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function badRequest(message: string): SimulatorRefusal {
  return new SimulatorRefusal(400, 'invalid_request', message);
}

export function notFound(message: string): SimulatorRefusal {
  return new SimulatorRefusal(404, 'not_found', message);
}

/** The members of a JSON object; throws a refusal for anything else. */
export function membersOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest(`${what} must be a JSON object`);
  }
  return Object.fromEntries(Object.entries(value));
}

/** The objects of a list, each as its members; anything else is left out. */
export function objectsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) =>
    typeof item === 'object' && item !== null ? [membersOf(item, 'an item')] : [],
  );
}

/** Reads JSON that someone sent to a simulator; an empty body is an empty object. */
export function readJson(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('the body must be JSON');
  }
}

/** The whole body of a request; throws a refusal above `max` bytes. */
export async function readBody(request: IncomingMessage, max: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > max) throw new SimulatorRefusal(413, 'too_large', `a body may have ${max} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
