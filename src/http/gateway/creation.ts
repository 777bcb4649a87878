import { setTimeout as pause } from 'node:timers/promises';
import type { Refusal, RequestInput } from '../../contracts/messages.js';
import { isProblemCode } from '../../contracts/problems.js';
import { findRequest, type RequestRecord } from '../../db/requests.js';
import { Problem } from '../problem.js';
import type { Answer, Call, StartOutcome } from './call.js';
import { readIdempotencyKey, requireSameCall, toRequestInput, type Understood } from './idempotency.js';
import { type Preference, readPreference } from './prefer.js';
import { openRequest } from './request-state.js';
import { kindOf, type LoadedResource, type ResourceKind } from './resource-kinds.js';
import { fingerprintKey } from './sealing.js';

/** How one kind of object is made under an Idempotency-Key: all that differs between two creates. */
export interface Creation<Query, Body, Meaning> {
  /** What the body means, defaults filled. May refuse only by what never changes: a list of assets, not a state. */
  readonly understand: (call: Call<Query, Body>) => Meaning | Promise<Meaning>;
  /** The meaning as it enters the fingerprint: amounts in minor units, as text. */
  readonly fingerprinted: (meaning: Meaning) => Understood;
  /** True where the body holds personal data: its fingerprint is kept under the server's key. */
  readonly isPersonal?: true;
  /** Starts it. Looks at the present (is the provider there?) first, and may throw what keeps the key free. */
  readonly start: (
    call: Call<Query, Body>,
    meaning: Meaning,
    attempt: { request: RequestInput; deadlineMs: number },
  ) => Promise<StartOutcome>;
}

/** The object that a key leads to: made by the first call, or there before. */
type Led = Pick<RequestRecord, 'resourceType' | 'resourceId' | 'made'>;

/** Starting waits at least so long, whatever the caller prefers: money has to be reserved before anything is said. */
const START_DEADLINE_MS_MIN = 5_000;
const WATCH_EVERY_MS = 75;
const RETRY_AFTER_S = '1';
const REPLAYED = { 'idempotent-replayed': 'true' } as const;

/** The handler of a create: a known key is answered first, then the start, then the row is watched. */
export function creationHandler<Query, Body, Meaning>(creation: Creation<Query, Body, Meaning>) {
  return async (call: Call<Query, Body>): Promise<Answer> => {
    const preference = readPreference(call.header('prefer'));
    const until = Date.now() + preference.waitMs;
    const meaning = await creation.understand(call);
    const request = toRequestInput(call.caller, {
      key: readIdempotencyKey(call.header('idempotency-key')),
      method: call.method,
      path: call.path,
      understood: creation.fingerprinted(meaning),
      secret: creation.isPersonal ? fingerprintKey(call.deps) : null,
    });

    const answered = (await replay(call, request, until)) ?? (await first());
    return withPreference(answered, preference);

    async function first(): Promise<Answer> {
      const deadlineMs = Math.max(preference.waitMs, START_DEADLINE_MS_MIN);
      const outcome = await creation.start(call, meaning, { request, deadlineMs });
      if (outcome.kind === 'not_sent') throw notSent();
      if (outcome.kind === 'unknown') return perhapsAccepted(call, request);
      if (outcome.kind === 'closed') return afterClosedRun(call, request, until);
      const { fingerprint, callId, resource, refusal } = outcome.accepted;
      requireSameCall(fingerprint, request);
      const headers = joinedHeaders(callId, request);
      if (refusal) throw refused(refusal, headers);
      const led = { resourceType: resource?.type ?? null, resourceId: resource?.id ?? null };
      return answerLed(call, { ...led, made: resource?.made ?? null }, { until, headers });
    }
  };
}

/** What a known key answers now: the object as it is, or the refusal; null for a key that led nowhere yet. */
export async function replay(
  call: Call<unknown, unknown>,
  request: RequestInput,
  until: number,
): Promise<Answer | null> {
  const row = await findRequest(call.deps.db, request.id);
  if (!row) return null;
  requireSameCall(row.fingerprint, request);
  if (row.refusal) throw refused(row.refusal, REPLAYED);
  return answerLed(call, row, { until, headers: REPLAYED });
}

async function afterClosedRun(call: Call<unknown, unknown>, request: RequestInput, until: number): Promise<Answer> {
  const answer = await replay(call, request, until);
  if (!answer) throw new Error(`The run of ${request.id} is closed and left no row: it was terminated by hand.`);
  return answer;
}

/** Answers the object that a key led to, as it is when it is definite or the wait is over. */
export async function answerLed(
  call: Call<unknown, unknown>,
  led: Led,
  { until, headers }: { until: number; headers: Readonly<Record<string, string>> },
): Promise<Answer> {
  if (led.resourceType === null || led.resourceId === null)
    throw new Error('A key led neither to an object nor to a refusal.');
  const kind = kindOf(led.resourceType);
  const made = led.made === true;
  const loaded = await watch(call, kind, { id: led.resourceId, until, made });
  if (loaded.refusal) throw refused(loaded.refusal, { ...headers, location: kind.url(loaded.body.id) });
  const answer = answerResource(kind, loaded, made);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** The answer to an object: 200 for one that was there before the key, 201 when definite, 202 while not. */
export function answerResource(kind: ResourceKind, loaded: LoadedResource, made: boolean): Answer {
  const { body, definite } = loaded;
  const location = { location: kind.url(body.id) };
  if (!made && loaded.changing !== true) return { status: 200, body };
  if (made && definite) return { status: 201, body, headers: location };
  return { status: 202, body, headers: { ...location, 'retry-after': RETRY_AFTER_S } };
}

/** A refusal that a key keeps, in its own words. */
export function refused(refusal: Refusal, headers: Readonly<Record<string, string>>): Problem {
  if (!isProblemCode(refusal.code))
    throw new Error(`A request was refused with ${refusal.code}, which contracts/problems.ts does not list.`);
  return new Problem(refusal.code, { detail: refusal.detail, headers });
}

async function watch(
  call: Call<unknown, unknown>,
  kind: ResourceKind,
  watched: { id: string; until: number; made: boolean },
): Promise<LoadedResource> {
  for (;;) {
    const loaded = await kind.load(call.deps.db, call.caller, watched.id);
    if (!loaded) throw new Error(`A key leads to ${watched.id}, which is not there.`);
    const left = watched.until - Date.now();
    const settled = loaded.definite && (watched.made || loaded.changing !== true);
    if (settled || left <= 0 || call.deps.stopping()) return loaded;
    await pause(Math.min(WATCH_EVERY_MS, left));
  }
}

/** Perhaps accepted; a run that no worker has taken up yet tells by its memo whose call it answers for. */
export async function perhapsAccepted(call: Call<unknown, unknown>, request: RequestInput): Promise<Answer> {
  const { body, running } = await openRequest(call, request.id);
  if (running?.fingerprint !== undefined) requireSameCall(running.fingerprint, request);
  const location = `/v1/requests/${request.id}`;
  const headers = { location, 'retry-after': RETRY_AFTER_S, ...joinedHeaders(running?.callId, request) };
  return { status: 202, body, headers };
}

/** A call that joined a run begun by another is marked like every later one. */
function joinedHeaders(callId: string | undefined, request: RequestInput): Readonly<Record<string, string>> {
  return callId === undefined || callId === request.callId ? {} : REPLAYED;
}

function notSent(): Problem {
  return new Problem('temporarily_unavailable', { headers: { 'retry-after': RETRY_AFTER_S } });
}

/** Says which preference was honoured. */
export function withPreference(answer: Answer, preference: Preference): Answer {
  if (preference.applied === null) return answer;
  return { ...answer, headers: { ...answer.headers, 'preference-applied': preference.applied } };
}
