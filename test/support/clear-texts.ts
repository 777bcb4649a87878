import type { RecordedHistory } from './worker-recorder.js';

/** A text that whoever reads Temporal's store reads, and where in the history it stands. */
export interface ClearText {
  /** Members from the event down, without places in lists: `activityTaskScheduledEventAttributes.activityId`. */
  readonly at: string;
  readonly text: string;
}

interface PayloadJson {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data?: string;
}

/**
 * Everything of a history that is no encrypted payload: texts and numbers as they stand, payloads in clear by what they
 * hold, metadata of payloads. Numbers and times of the history itself are left out.
 */
export function clearTexts({ history }: RecordedHistory): ClearText[] {
  const found: ClearText[] = [];
  walk(history.events, '', (at, value) => {
    if (!isPayload(value)) found.push({ at, text: String(value) });
    else if (encodingOf(value) === 'binary/encrypted') {
      for (const [name, text] of Object.entries(value.metadata)) found.push({ at: `${at}.${name}`, text: plain(text) });
    } else found.push({ at, text: plain(value.data ?? '') });
  });
  return found;
}

/** Each payload of a history that is not encrypted, as its value, by where it stands. */
export function clearPayloads({ history }: RecordedHistory): { at: string; value: unknown }[] {
  const found: { at: string; value: unknown }[] = [];
  walk(history.events, '', (at, value) => {
    if (isPayload(value) && encodingOf(value) !== 'binary/encrypted') {
      found.push({ at, value: encodingOf(value) === 'json/plain' ? JSON.parse(plain(value.data ?? '')) : null });
    }
  });
  return found;
}

/** Calls `visit` with every payload, and with every value beside them that is neither object nor list. */
function walk(value: unknown, at: string, visit: (at: string, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null || isPayload(value)) {
    if (value !== null && value !== undefined) visit(at, value);
    return;
  }
  for (const [name, inside] of Object.entries(value)) {
    walk(inside, Array.isArray(value) ? at : `${at}${at && '.'}${name}`, visit);
  }
}

function isPayload(value: unknown): value is PayloadJson {
  const { metadata } = (value ?? {}) as Partial<PayloadJson>;
  return typeof metadata === 'object' && metadata !== null && 'encoding' in metadata;
}

function encodingOf({ metadata }: PayloadJson): string {
  return plain(metadata['encoding'] ?? '');
}

function plain(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
