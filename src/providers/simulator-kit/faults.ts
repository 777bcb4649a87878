import { randomUUID } from 'node:crypto';
import { badRequest, membersOf } from './requests.js';

/** Faults on calls (WIRE.md, "Driving a simulator"). */
export const CALL_FAULTS = [
  'lost_answer',
  'timeout_before',
  'timeout_after',
  'status',
  'slow',
  'garbage',
  'truncated',
  'wrong_amount',
  'not_found',
  'unauthorized',
] as const;
export type CallFaultKind = (typeof CALL_FAULTS)[number];

/** Faults on webhooks. */
export const WEBHOOK_FAULTS = ['drop', 'double', 'delay', 'reorder', 'forge', 'changed_body'] as const;
export type WebhookFaultKind = (typeof WEBHOOK_FAULTS)[number];

const MATCH_MEMBERS = ['method', 'path', 'reference', 'event_type'] as const;
type MatchMember = (typeof MATCH_MEMBERS)[number];
type Members = Readonly<Record<string, unknown>>;

interface FaultBase {
  readonly id: string;
  readonly match: Readonly<Partial<Record<MatchMember, string>>>;
  /** How often it still applies; null: until it is deleted. */
  readonly times: number | null;
  hits: number;
}
export interface CallFault extends FaultBase {
  readonly fault: CallFaultKind;
  readonly status: number;
  /** Seconds for the `Retry-After` header, or null. */
  readonly retry_after: number | null;
  readonly ms: number;
  readonly amount: string;
}
/** A fault on calls that one provider alone can make: its wire finds it as `fault` of the environment and plays it. */
export interface OwnFault extends FaultBase {
  readonly fault: string;
  /** What it takes besides. */
  readonly own: Members;
}
/** Per name of such a fault the path of the calls that it is for, and what it takes; `read` refuses what is wrong. */
export type OwnFaults = Readonly<Record<string, { readonly path: string; read(members: Members): Members }>>;
export interface WebhookFault extends FaultBase {
  readonly fault: WebhookFaultKind;
  readonly ms: number;
  readonly copies: number;
  /** Members that `changed_body` puts in place of the true ones. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FaultRegistry {
  /** Adds a fault from a request's body; throws a BadRequest that names what is wrong with it. */
  add(body: unknown): { id: string };
  list(): readonly Fault[];
  /** False when there is no such fault. */
  remove(id: string): boolean;
  clear(): void;
  /** The oldest fault that fits this call and is not used up; taking it is a hit. */
  takeForCall(call: { method: string; path: string; references: readonly string[] }): CallFault | OwnFault | null;
  /** The same for one sending of a webhook; `except` leaves kinds out. */
  takeForWebhook(
    event: { type: string; references: readonly string[] },
    except?: readonly WebhookFaultKind[],
  ): WebhookFault | null;
}

type Fault = CallFault | OwnFault | WebhookFault;

/** The faults that one simulator has been told to make; `own` are those that no other simulator knows. */
export function createFaultRegistry(own: OwnFaults = {}): FaultRegistry {
  const faults = new Map<string, Fault>();
  const take = (fits: (fault: Fault) => boolean) => {
    for (const fault of faults.values()) {
      if ((fault.times !== null && fault.hits >= fault.times) || !fits(fault)) continue;
      fault.hits += 1;
      return fault;
    }
    return null;
  };
  return {
    add(body) {
      const fault = parseFault(body, own);
      faults.set(fault.id, fault);
      return { id: fault.id };
    },
    list: () => [...faults.values()],
    remove: (id) => faults.delete(id),
    clear: () => faults.clear(),
    takeForCall({ method, path, references }) {
      const fault = take(
        (candidate) =>
          !isWebhookFault(candidate) && matches(candidate.match, { method: [method], path: [path], references }),
      );
      return fault && !isWebhookFault(fault) ? fault : null;
    },
    takeForWebhook({ type, references }, except = []) {
      const fault = take(
        (candidate) =>
          isWebhookFault(candidate) &&
          !except.includes(candidate.fault) &&
          matches(candidate.match, { event_type: [type], references }),
      );
      return fault && isWebhookFault(fault) ? fault : null;
    },
  };
}

function parseFault(body: unknown, own: OwnFaults): Fault {
  const members = membersOf(body, 'a fault');
  const kind = members.fault;
  const match = parseMatch(members.match ?? {});
  const times = wholeOr(members, 'times', null);
  const base = { id: randomUUID(), match, hits: 0 };
  const onCall = CALL_FAULTS.find((known) => known === kind);
  if (onCall) {
    if (match.event_type !== undefined) throw badRequest(`${onCall} is a fault on calls: match no event_type`);
    if (onCall === 'slow') requireMember(members, 'ms');
    if (onCall === 'wrong_amount') requireMember(members, 'amount');
    const status = wholeOr(members, 'status', 503) ?? 503;
    if (status < 200 || status > 599) throw badRequest('status must be from 200 to 599');
    const retryAfter = wholeOr(members, 'retry_after', null);
    const rest = { ms: wholeOr(members, 'ms', 0) ?? 0, amount: textOr(members, 'amount', '') };
    return { ...base, times, fault: onCall, status, retry_after: retryAfter, ...rest };
  }
  const named = typeof kind === 'string' && Object.hasOwn(own, kind) ? own[kind] : undefined;
  if (named) {
    if (match.event_type !== undefined) throw badRequest(`${kind} is a fault on calls: match no event_type`);
    return { ...base, match: { path: named.path, ...match }, times, fault: String(kind), own: named.read(members) };
  }
  const onWebhook = WEBHOOK_FAULTS.find((known) => known === kind);
  if (!onWebhook) {
    const known = [...CALL_FAULTS, ...Object.keys(own), ...WEBHOOK_FAULTS];
    throw badRequest(`fault must be one of ${known.join(', ')}`);
  }
  if (match.method !== undefined || match.path !== undefined) {
    throw badRequest(`${onWebhook} is a fault on webhooks: match event_type and reference only`);
  }
  if (onWebhook === 'delay') requireMember(members, 'ms');
  const replaced = members.body === undefined ? {} : membersOf(members.body, 'body');
  return {
    ...base,
    fault: onWebhook,
    // WIRE.md gives `double` the member `times` for its copies, so it applies until it is deleted.
    times: onWebhook === 'double' ? null : times,
    copies: Math.max(2, times ?? 2),
    ms: wholeOr(members, 'ms', 0) ?? 0,
    body: replaced,
  };
}

function parseMatch(body: unknown): FaultBase['match'] {
  const match: Partial<Record<MatchMember, string>> = {};
  for (const [name, value] of Object.entries(membersOf(body, 'match'))) {
    const member = MATCH_MEMBERS.find((known) => known === name);
    if (!member) throw badRequest(`match knows ${MATCH_MEMBERS.join(', ')}, not ${name}`);
    if (value === null || value === undefined) continue;
    if (typeof value !== 'string') throw badRequest(`match.${name} must be text`);
    match[member] = value;
  }
  return match;
}

function wholeOr(members: Readonly<Record<string, unknown>>, name: string, fallback: number | null): number | null {
  const value = members[name] ?? fallback;
  if (value !== null && (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)) {
    throw badRequest(`${name} must be a whole number`);
  }
  return value;
}

function textOr(members: Readonly<Record<string, unknown>>, name: string, fallback: string): string {
  const value = members[name] ?? fallback;
  if (typeof value !== 'string') throw badRequest(`${name} must be text`);
  return value;
}

function requireMember(members: Readonly<Record<string, unknown>>, name: string): void {
  if (members[name] === undefined) throw badRequest(`${String(members.fault)} needs ${name}`);
}

/** True for a fault that the provider's own wire plays. */
export function isOwnFault(fault: Fault): fault is OwnFault {
  return 'own' in fault;
}

function isWebhookFault(fault: Fault): fault is WebhookFault {
  return WEBHOOK_FAULTS.some((kind) => kind === fault.fault);
}

function matches(
  match: FaultBase['match'],
  facts: { method?: string[]; path?: string[]; event_type?: string[]; references: readonly string[] },
): boolean {
  return MATCH_MEMBERS.every((member) => {
    const wanted = match[member];
    if (wanted === undefined) return true;
    const found = member === 'reference' ? facts.references : (facts[member] ?? []);
    const fits = member === 'method' ? (text: string) => text === wanted.toUpperCase() : wildcard(wanted);
    return found.some(fits);
  });
}

function wildcard(pattern: string): (text: string) => boolean {
  if (!pattern.endsWith('*')) return (text) => text === pattern;
  return (text) => text.startsWith(pattern.slice(0, -1));
}
