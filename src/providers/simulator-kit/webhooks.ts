import { Agent, request } from 'undici';
import type { FaultRegistry, WebhookFault } from './faults.js';

type Members = Readonly<Record<string, unknown>>;

/** Where webhooks of one account go and how they are signed. */
export interface WebhookTarget {
  readonly url: string;
  /** Headers of one attempt; `forged` asks for a signature that must not be accepted. */
  sign(body: Buffer, options: { forged: boolean }): Readonly<Record<string, string>>;
}

export interface WebhookEvent {
  readonly eventId: string;
  readonly type: string;
  /** What a fault's `match.reference` is compared with. */
  readonly references: readonly string[];
  /** Its members, or what writes it: for numbers that JSON.stringify would round. */
  readonly body: Members | ((changed: Members) => string);
  readonly target: WebhookTarget;
}

/** One sending: `status` is null when no answer came; `as` says whether it was the true one. */
export interface WebhookAttempt {
  readonly at: string;
  readonly status: number | null;
  readonly as: 'genuine' | 'forged' | 'changed';
}
export interface SentWebhook {
  readonly event_id: string;
  readonly type: string;
  readonly attempts: readonly WebhookAttempt[];
}

export interface WebhookSender {
  /** Sends in the background and again after each failure, as a custodian does. */
  send(event: WebhookEvent): void;
  /** Sends a known event once more, at once; null when there is no such event. */
  resend(eventId: string): Promise<SentWebhook | null>;
  list(): SentWebhook[];
  /** Forgets all events and stops their retries. */
  reset(): void;
  close(): Promise<void>;
}

/** Waits between attempts; after the last one the sender gives up. */
export const WEBHOOK_RETRY_DELAYS_MS = [1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000] as const;
const ATTEMPT_TIMEOUT_MS = 10_000;
const REORDER_HOLD_MS = 2_000;

interface Entry {
  readonly event: WebhookEvent;
  readonly attempts: WebhookAttempt[];
}

/** Sends webhooks with retries, and makes the webhook faults of the registry. */
export function createWebhookSender(options: {
  faults: FaultRegistry;
  retryDelaysMs?: readonly number[] | undefined;
}): WebhookSender {
  const delays = options.retryDelaysMs ?? WEBHOOK_RETRY_DELAYS_MS;
  const agent = new Agent({ connections: 32, keepAliveTimeout: 1_000 });
  const entries = new Map<string, Entry>();
  const timers = createTimers();
  const holds = createHolds(timers);

  async function attempt(entry: Entry, tried: number): Promise<void> {
    const { event } = entry;
    const fault = options.faults.takeForWebhook(event);
    if (fault?.fault === 'drop') return;
    if (fault?.fault === 'delay') await timers.wait(fault.ms);
    if (fault?.fault === 'reorder') await holds.hold(event.target.url);
    if (entries.get(event.eventId) !== entry) return;
    const taken = await deliver(agent, entry, fault);
    holds.release(event.target.url);
    const delay = delays[tried];
    if (taken || delay === undefined) return;
    await timers.wait(delay);
    if (entries.get(event.eventId) === entry) await attempt(entry, tried + 1);
  }

  return {
    send(event) {
      const entry: Entry = { event, attempts: [] };
      entries.set(event.eventId, entry);
      void attempt(entry, 0);
    },
    async resend(eventId) {
      const entry = entries.get(eventId);
      if (!entry) return null;
      const fault = options.faults.takeForWebhook(entry.event, ['drop', 'delay', 'reorder']);
      if (fault?.fault === 'changed_body') await post(agent, entry, { as: 'changed', fault });
      else await deliver(agent, entry, fault);
      return shown(entry);
    },
    list: () => [...entries.values()].map(shown),
    reset() {
      entries.clear();
      timers.clear();
    },
    async close() {
      entries.clear();
      timers.clear();
      await agent.destroy();
    },
  };
}

/** One round of an event; true when the true one was taken by the receiver. */
async function deliver(agent: Agent, entry: Entry, fault: WebhookFault | null): Promise<boolean> {
  if (fault?.fault === 'forge') return post(agent, entry, { as: 'forged', fault });
  if (fault?.fault === 'double') {
    const copies = Array.from({ length: fault.copies }, () => post(agent, entry, { as: 'genuine', fault }));
    return (await Promise.all(copies)).includes(true);
  }
  const taken = await post(agent, entry, { as: 'genuine', fault });
  // The same id with other content means something only after the true one was seen.
  if (fault?.fault === 'changed_body') await post(agent, entry, { as: 'changed', fault });
  return taken;
}

async function post(
  agent: Agent,
  entry: Entry,
  { as, fault }: { as: WebhookAttempt['as']; fault: WebhookFault | null },
): Promise<boolean> {
  const { body, target } = entry.event;
  const changed = as === 'changed' ? { changed_by_simulator: true, ...fault?.body } : {};
  const bytes = Buffer.from(typeof body === 'function' ? body(changed) : JSON.stringify({ ...body, ...changed }));
  const at = new Date().toISOString();
  const headers = { 'content-type': 'application/json', ...target.sign(bytes, { forged: as === 'forged' }) };
  const status = await statusOf(agent, { url: target.url, headers, body: bytes });
  entry.attempts.push({ at, status, as });
  return as === 'genuine' && status !== null && status >= 200 && status < 300;
}

/** The status of the answer, or null when none came: to a sender of webhooks every failure is the same. */
async function statusOf(
  agent: Agent,
  { url, headers, body }: { url: string; headers: Readonly<Record<string, string>>; body: Buffer },
): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const answer = await request(url, { method: 'POST', dispatcher: agent, signal, headers, body });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return null;
  }
}

function shown({ event, attempts }: Entry): SentWebhook {
  return { event_id: event.eventId, type: event.type, attempts: [...attempts] };
}

interface Timers {
  wait(ms: number): Promise<void>;
  clear(): void;
}

function createTimers(): Timers {
  const waiting = new Map<NodeJS.Timeout, () => void>();
  return {
    wait(ms) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(timer);
          resolve();
        }, ms);
        waiting.set(timer, resolve);
      });
    },
    // Waiters go on and find that their event is forgotten.
    clear() {
      for (const [timer, resolve] of waiting) {
        clearTimeout(timer);
        resolve();
      }
      waiting.clear();
    },
  };
}

/** `reorder`: an event waits until the next one to the same place has gone, or two seconds, so that none is lost. */
function createHolds(timers: Timers): { hold(url: string): Promise<void>; release(url: string): void } {
  const held = new Map<string, () => void>();
  return {
    async hold(url) {
      if (held.has(url)) return;
      const overtaken = new Promise<void>((resolve) => held.set(url, resolve));
      await Promise.race([overtaken, timers.wait(REORDER_HOLD_MS)]);
      held.delete(url);
    },
    release(url) {
      held.get(url)?.();
    },
  };
}
