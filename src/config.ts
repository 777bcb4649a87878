import { z } from 'zod';

/** As domain/books.ts says; named here again because a configuration knows nothing but its own text. */
const BOOKS = ['live', 'test'] as const;
/** Names of the providers that a configuration may speak of. */
const PROVIDERS = ['custody', 'issuer', 'pert'] as const;
export type ProviderName = (typeof PROVIDERS)[number];
/** As `providerAccountName` of contracts/ids.ts says. */
const MAIN = { live: 'main-live', test: 'main-test' } as const;
const ACCOUNTS = { custody: MAIN, issuer: MAIN, pert: { live: 'pert-main', test: 'pert-test' } } as const;

/** One account at one provider; it serves one book (R21). */
export interface ProviderConfig {
  readonly provider: ProviderName;
  readonly book: (typeof BOOKS)[number];
  /** Our name of the account, and of its webhook endpoint: `main-live`. */
  readonly account: string;
  readonly url: string;
  readonly apiKey: string;
  /** Newest first; during a rotation two are valid. */
  readonly webhookSecrets: readonly string[];
}

/** A secret shorter than this refuses to start (DESIGN 7). */
export const WEBHOOK_SECRET_CHARACTERS_MIN = 32;

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A span of time such as `500ms`, `5s`, `2m`; the parsed value is in milliseconds. */
const duration = (fallback: string) =>
  z
    .string()
    .regex(/^[1-9][0-9]*(ms|s|m|h|d)$/, 'must be a span such as 500ms, 5s or 2m')
    .default(fallback)
    .transform((text) => Number.parseInt(text, 10) * (UNITS_MS[text.replace(/^[0-9]+/, '')] ?? 1));
const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const count = (fallback: number) => z.coerce.number().int().min(1).default(fallback);
const host = z.string().min(1).default('127.0.0.1');
const origin = z.string().regex(/^https?:\/\/[^/\s]+$/, 'must be an origin: http://host:port');
const issuer = z
  .string()
  .regex(
    /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])[^\s?#@]+$/,
    'must be an https:// URL; http:// of this machine',
  );

const schema = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
  SVERKA_DATABASE_POOL: count(10),
  TEMPORAL_ADDRESS: z.string().min(1).default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  SVERKA_TASK_QUEUE: z.string().min(1).default('sverka'),
  SVERKA_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).default('info'),
  SVERKA_LOG_FILE: z.string().min(1).optional(),
  SVERKA_HOST: host,
  SVERKA_OPS_HOST: host,
  SVERKA_OPS_PORT: port(0),
  SVERKA_GATEWAY_PORT: port(8080),
  SVERKA_RELAY_PORT: port(8081),
  SVERKA_CONSOLE_PORT: port(8083),
  SVERKA_CABINET_PORT: port(8084),
  SVERKA_CONSOLE_URL: origin.default('http://localhost:8083'),
  SVERKA_CABINET_URL: origin.default('http://localhost:8084'),
  SVERKA_LOCAL_LINKS: z.enum(['on', 'off']).default('off'),
  SVERKA_OIDC_ISSUER: issuer.optional(),
  SVERKA_OIDC_CLIENT_ID: z.string().min(1).optional(),
  SVERKA_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  SVERKA_APPROVAL_PASSKEY: z.enum(['on', 'off']).default('on'),
  SVERKA_TEMPORAL_UI_URL: origin.optional(),
  SVERKA_METRICS_PORT: port(9464),
  SVERKA_WORKFLOW_BUNDLE: z.string().min(1).optional(),
  SVERKA_PAYLOAD_KEYS_FILE: z.string().min(1).optional(),
  SVERKA_CODEC_PORT: port(8082),
  SVERKA_CODEC_TOKEN: z
    .string()
    .regex(/^\S{32,}$/, 'must be at least 32 characters without a space')
    .optional(),
  SVERKA_CODEC_UI_ORIGIN: origin.optional(),
  SVERKA_RATE_LIMIT: count(600),
  SVERKA_RATE_LIMIT_WINDOW: duration('60s'),
  SVERKA_RELAY_RATE_LIMIT: count(20_000),
  SVERKA_RELAY_DEADLINE: duration('8s'),
  SVERKA_RECONCILE_INTERVAL: duration('1h'),
  SVERKA_DRIFT_CHECK_INTERVAL: duration('1h'),
  SVERKA_FULL_CHECK_INTERVAL: duration('1d'),
  SVERKA_HEALTH_INTERVAL: duration('60s'),
  SVERKA_CHECK_GRACE: duration('60s'),
  SVERKA_STANDING_INTERVAL: duration('60s'),
  SVERKA_STUCK_AGE: duration('6h'),
  SVERKA_SWEEP_INTERVAL: duration('5s'),
  SVERKA_SWEEP_GRACE: duration('10s'),
  SVERKA_SWEEP_LEASE: duration('3m'),
  SVERKA_UNKNOWN_LOOKUP_INTERVAL: duration('1s'),
  SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX: duration('5m'),
  SVERKA_UNKNOWN_ALERT_LOOKS: count(10),
  SVERKA_CREATE_RETRY_INTERVAL_MAX: duration('60s'),
  SVERKA_DEPOSIT_POLL_INTERVAL: duration('1m'),
  SVERKA_DEPOSIT_NOT_FOUND_INTERVAL: duration('1s'),
  SVERKA_DEPOSIT_NOT_FOUND_INTERVAL_MAX: duration('1m'),
  SVERKA_ISSUANCE_POLL_INTERVAL: duration('1m'),
  SVERKA_ISSUANCE_RECONCILE_INTERVAL: duration('1h'),
  SVERKA_PENDING_ALERT_AGE: duration('1d'),
  SVERKA_FOUND_LATE_AGE: duration('30d'),
  SVERKA_PAYOUT_POLL_INTERVAL: duration('30s'),
  SVERKA_WITHDRAWAL_REMINDER: duration('4h'),
  SVERKA_WITHDRAWAL_ESCALATION: duration('1d'),
  SVERKA_PAGE_TURN: duration('5s'),
  SVERKA_BALANCE_CHECK_INTERVAL: duration('5m'),
  SVERKA_BALANCE_RECHECK_INTERVAL: duration('15s'),
  SVERKA_BALANCE_DIFFERENCE_CHECKS: count(3),
  SVERKA_UNMATCHED_ALERT_AGE: duration('1h'),
  SVERKA_FAULT_INTERVAL: duration('5s'),
  SVERKA_FAULT_INTERVAL_MAX: duration('10m'),
  SVERKA_STRANDED_AGE: duration('3m'),
  SVERKA_STICKY_TIMEOUT: duration('5s'),
  SVERKA_PROVIDER_TIMEOUT: duration('8s'),
  SVERKA_BREAKER_FAILURES: count(5),
  SVERKA_BREAKER_WINDOW: duration('30s'),
  SVERKA_BREAKER_OPEN: duration('60s'),
  SVERKA_BREAKER_LEASE: duration('10s'),
  SVERKA_MISCONFIGURED_INTERVAL: duration('30s'),
  SVERKA_SIMULATORS: z.string().optional(),
  SVERKA_FINGERPRINT_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
  SVERKA_PUBLIC_KEYS_FILE: z.string().min(1).optional(),
  SVERKA_KEYRING_FILE: z.string().min(1).optional(),
  SVERKA_AWS_KMS_KEYS: z.string().min(1).optional(),
  SVERKA_AWS_KMS_ENDPOINT: z.url('must be a URL').optional(),
  SVERKA_VAULT_URL: z.url('must be a URL').optional(),
  SVERKA_VAULT_TOKEN: z.string().min(1).optional(),
  SVERKA_VAULT_KEY: z.string().min(1).optional(),
  SVERKA_VAULT_MOUNT: z.string().min(1).default('transit'),
});

const LEASE_TO_TIMEOUT_MIN = 1.25;

export type Config = ReturnType<typeof loadConfig>;

/**
 * Reads the whole configuration from the environment: the only place that does.
 * Throws one error that names every bad key, so that a start needs one correction and not five.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env) {
  const parsed = schema.safeParse(setOf(env), { error: inOurWords });
  const providers = readProviders(env);
  const problems = [
    ...(parsed.success ? [] : parsed.error.issues.map(toLine)),
    ...providers.problems,
    ...(parsed.success ? conflictsOf(parsed.data) : []),
  ];
  if (!parsed.success || problems.length > 0) throw unusable(problems);
  return { ...parsed.data, providers: providers.found, temporalEnv: temporalEnvOf(env) };
}

/** What a schema says itself goes before it. */
function inOurWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'missing; set it';
  if (issue.code === 'invalid_type') return 'must be a whole number';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  return undefined;
}

/** All that the codec needs: neither a database nor a provider. Only the keys, the token and the UI have no default. */
const codecSchema = schema
  .pick({ SVERKA_HOST: true, SVERKA_OPS_HOST: true, SVERKA_OPS_PORT: true, SVERKA_CODEC_PORT: true })
  .extend(schema.pick({ SVERKA_LOG_LEVEL: true, SVERKA_LOG_FILE: true }).shape)
  .extend(
    schema.pick({ SVERKA_PAYLOAD_KEYS_FILE: true, SVERKA_CODEC_TOKEN: true, SVERKA_CODEC_UI_ORIGIN: true }).required()
      .shape,
  );

/** The configuration of the codec's process; the same error as `loadConfig`. */
export function loadCodecConfig(env: NodeJS.ProcessEnv = process.env) {
  const parsed = codecSchema.safeParse(setOf(env), { error: inOurWords });
  if (parsed.success) return parsed.data;
  throw unusable(parsed.error.issues.map(toLine));
}

/** A probe's call must be over well before its lease is, or two probes would call at once; Vault needs all of its. */
function conflictsOf(settings: z.infer<typeof schema>): string[] {
  const { SVERKA_PROVIDER_TIMEOUT, SVERKA_BREAKER_LEASE } = settings;
  const { SVERKA_VAULT_URL, SVERKA_VAULT_TOKEN, SVERKA_VAULT_KEY } = settings;
  const { SVERKA_OIDC_ISSUER, SVERKA_OIDC_CLIENT_ID, SVERKA_OIDC_CLIENT_SECRET } = settings;
  const problems = [];
  if (SVERKA_PROVIDER_TIMEOUT * LEASE_TO_TIMEOUT_MIN > SVERKA_BREAKER_LEASE) {
    const least = `${LEASE_TO_TIMEOUT_MIN} times SVERKA_PROVIDER_TIMEOUT`;
    problems.push(`SVERKA_BREAKER_LEASE: must be at least ${least}; raise it`);
  }
  problems.push(...missingOf('Vault', { SVERKA_VAULT_URL, SVERKA_VAULT_TOKEN, SVERKA_VAULT_KEY }));
  const oidc = { SVERKA_OIDC_ISSUER, SVERKA_OIDC_CLIENT_ID };
  problems.push(...missingOf('OIDC', oidc, SVERKA_OIDC_CLIENT_SECRET !== undefined));
  return problems;
}

/** Settings that are of use together alone; `asked` when something else speaks of them. */
function missingOf(of: string, group: Readonly<Record<string, string | undefined>>, asked = false): string[] {
  const missing = Object.keys(group).filter((name) => group[name] === undefined);
  if (!asked && missing.length === Object.keys(group).length) return [];
  return missing.map((name) => `${name}: missing, although other settings of ${of} are there`);
}

/** A setting that is there and empty is not set. */
function setOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

function toLine({ path, message }: { path: PropertyKey[]; message: string }): string {
  return `${path.join('.')}: ${message}`;
}

function unusable(problems: readonly string[]): Error {
  return new Error(`The configuration is not usable:\n${problems.map((line) => `  ${line}`).join('\n')}`);
}

/** What Temporal's own tools read (TLS, API key, profiles), for its own reader of them. */
function temporalEnvOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[0].startsWith('TEMPORAL_') && !!entry[1]),
  );
}

/** `SVERKA_<LIVE|TEST>_<PROVIDER>_{URL,API_KEY,WEBHOOK_SECRETS}`: all three or none. */
function readProviders(env: NodeJS.ProcessEnv): { found: ProviderConfig[]; problems: string[] } {
  const found: ProviderConfig[] = [];
  const problems: string[] = [];
  for (const provider of PROVIDERS) {
    for (const book of BOOKS) {
      const prefix = `SVERKA_${book}_${provider}`.toUpperCase();
      const [url, apiKey, secrets] = ['URL', 'API_KEY', 'WEBHOOK_SECRETS'].map((name) => env[`${prefix}_${name}`]);
      if (!url && !apiKey && !secrets) continue;
      const webhookSecrets = (secrets ?? '').split(',').filter((secret) => secret !== '');
      if (!url) problems.push(`${prefix}_URL: missing, although other settings of this provider are there`);
      if (!apiKey) problems.push(`${prefix}_API_KEY: missing, although other settings of this provider are there`);
      if (webhookSecrets.length === 0)
        problems.push(`${prefix}_WEBHOOK_SECRETS: missing; name one or two, newest first`);
      if (webhookSecrets.some((secret) => secret.length < WEBHOOK_SECRET_CHARACTERS_MIN)) {
        problems.push(`${prefix}_WEBHOOK_SECRETS: each needs at least ${WEBHOOK_SECRET_CHARACTERS_MIN} characters`);
      }
      found.push({
        provider,
        book,
        account: ACCOUNTS[provider][book],
        url: url ?? '',
        apiKey: apiKey ?? '',
        webhookSecrets,
      });
    }
  }
  return { found, problems };
}
