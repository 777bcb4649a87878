/**
 * The only members a log line may hold beside level, time, process and msg. Ids, states, counts and classes; never a
 * body, an amount, a name, an address, a key, or a text that someone else wrote.
 */
export const LOG_MEMBERS = [
  'trace_id',
  'request_id',
  'workflow_id',
  'run_id',
  'workflow_type',
  'activity',
  'attempt',
  'task_queue',
  'schedule',
  'namespace',
  'book',
  'merchant_id',
  'key_id',
  'customer_id',
  'subject_type',
  'subject_id',
  'deposit_id',
  'deposit_address_id',
  'card_id',
  'issuance_id',
  'load_id',
  'withdrawal_id',
  'movement_id',
  'movement_kind',
  'inbox_id',
  'event_id',
  'alert_id',
  'dead_letter_id',
  'user',
  'provider',
  'account',
  'endpoint',
  'operation',
  'outcome',
  'code',
  'reason',
  'state',
  'from_state',
  'to_state',
  'version',
  'generation',
  'provider_status',
  'method',
  'route',
  'status',
  'ms',
  'count',
  'pages',
  'rows',
  'stored',
  'duplicates',
  'conflicts',
  'applied',
  'parked',
  'nudged',
  'failed',
  'port',
  'pid',
  'signal',
  'exit_code',
  'check',
  'source',
] as const;
export type LogMember = (typeof LOG_MEMBERS)[number];
export type LogFields = Partial<Record<LogMember, unknown>> & {
  /** Told as its class, its code and where it was thrown. Its message is not kept: it may quote what it refused. */
  error?: unknown;
};

const KNOWN: ReadonlySet<string> = new Set(LOG_MEMBERS);
const TEXT_MAX = 200;
const STACK_FRAMES_MAX = 12;

// A card number, also grouped. Ids of traces, of calls and our own are let through by their shape.
const DIGIT_RUN = /[0-9](?:[ ._/-]?[0-9]){11,}/g;
const OWN_ID = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25})$/;
const SECRET = /\b(?:sk_(?:live|test)|whsec)_[A-Za-z0-9+/=_-]+|\bBearer\s+\S+|:\/\/[^/\s@]*@/gi;

/** What of the fields may stand in a line: known members, short and masked texts, numbers, booleans, null. */
export function toLine(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const line: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(fields)) {
    if (member === 'error') Object.assign(line, errorMembers(value));
    else if (KNOWN.has(member)) line[member] = toValue(value);
  }
  return line;
}

/** The text without runs of digits that could be a card number, and without keys. */
export function maskText(text: string): string {
  return text.slice(0, TEXT_MAX).replace(SECRET, '[masked]').replace(DIGIT_RUN, '[masked]');
}

function toValue(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Math.abs(value) < 1e11 ? value : '[masked]';
  if (typeof value === 'bigint') return toValue(value.toString());
  if (typeof value === 'string') return OWN_ID.test(value) ? value : maskText(value);
  return undefined;
}

function errorMembers(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error_class: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? maskText(error.code) : undefined;
  const stack = error.stack ?? '';
  // Behind the message: a line of it could look like a frame.
  const frames = stack.slice(stack.indexOf(error.message) + error.message.length).match(/^\s+at .*$/gm) ?? [];
  const cause = error.cause instanceof Error ? error.cause : null;
  return {
    error_class: maskText(error.name),
    error_code: code,
    error_at: frames.slice(0, STACK_FRAMES_MAX).map((frame) => maskText(frame.trim())),
    ...(cause && { cause_class: maskText(cause.name) }),
  };
}
