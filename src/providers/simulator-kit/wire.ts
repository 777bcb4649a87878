import type { Hono } from 'hono';
import type { OwnFault } from './faults.js';

/** One call of the product, as a simulator sees it. */
export interface WireCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What a route finds as `c.env`. */
export interface WireEnvironment {
  /** The fault of this provider's own that the call meets. */
  readonly fault: OwnFault | null;
}

/** How one provider speaks: its own paths, and how it words what goes wrong. */
export interface SimulatedWire {
  readonly app: Hono;
  /** How this provider words a failure. */
  failure(failure: { status: number; code: string; message: string }): { status: number; body: unknown };
  /** How it answers this call when nothing is found, though it exists. */
  absence(call: WireCall): { status: number; body: unknown };
  /** What a fault's `match.reference` is compared with; left out: `referencesOfCall`. */
  references?(call: WireCall): readonly string[];
}

/** Our reference in body or query, and the last part of the path: what one wants to match a call by. */
export function referencesOfCall(call: WireCall): readonly string[] {
  const named = [call.query.reference, referenceInBody(call.body), decodeSafely(call.path.split('/').at(-1) ?? '')];
  return named.filter((text): text is string => typeof text === 'string' && text !== '');
}

/** A JSON answer. */
export function jsonAnswer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): WireAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

function referenceInBody(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && 'reference' in value ? value.reference : undefined;
  } catch {
    return undefined;
  }
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
