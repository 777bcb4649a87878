import { type Context, heartbeat } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { queriesOf } from '../db/transaction.js';
import { ProviderError } from '../providers/errors.js';
import { newTraceId, withTrace } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';
import { NothingSent, toFailure } from './errors.js';

/** A beat this often finds a dead worker within the heartbeat timeout of `workflows/options.ts`. */
const BEAT_MS = 1_000;

/**
 * Around every activity: the trace of its input, a beat while it waits, one line in the log, the one translation of
 * errors, and an alert for what only a person can mend (a quiet retry would hide it).
 */
export function createActivityInterceptor(deps: ActivityDeps, context: Context): ActivityInboundCallsInterceptor {
  const { info } = context;
  return {
    async execute(input, next) {
      const of = sourceOf(input.args[0]);
      const fields = {
        activity: info.activityType,
        workflow_id: info.workflowExecution?.workflowId,
        attempt: info.attempt,
      };
      const beat = info.heartbeatTimeoutMs ? setInterval(() => heartbeat(), BEAT_MS) : undefined;
      return withTrace({ traceId: of.traceId ?? newTraceId() }, async () => {
        const began = Date.now();
        try {
          const result = await next(input);
          deps.log.debug('activity done', { ...fields, ms: Date.now() - began });
          if (isOfProvider(info.activityType)) await mended(deps, of);
          return result;
        } catch (error) {
          const why = error instanceof NothingSent ? error.cause : error;
          const code = why instanceof ProviderError ? why.kind : why instanceof Error ? why.name : 'unknown';
          deps.log.warn('activity failed', { ...fields, ms: Date.now() - began, code });
          await tell(deps, of, why);
          throw toFailure(error, { misconfiguredMs: deps.config.SVERKA_MISCONFIGURED_INTERVAL });
        } finally {
          clearInterval(beat);
        }
      });
    },
  };
}

interface Source {
  readonly traceId: string | undefined;
  readonly book: string | undefined;
  readonly key: string | undefined;
}

function sourceOf(argument: unknown): Source {
  const input: Record<string, unknown> = typeof argument === 'object' && argument !== null ? { ...argument } : {};
  const text = (name: string) => (typeof input[name] === 'string' ? input[name] : undefined);
  const [provider, account, ref] = [text('provider'), text('account'), text('ref')];
  const key = provider && account ? `${provider}:${account}${ref ? `:${ref}` : ''}` : undefined;
  return { traceId: text('traceId'), book: text('book'), key };
}

async function tell(deps: ActivityDeps, of: Source, error: unknown): Promise<void> {
  if (!(error instanceof ProviderError) || of.key === undefined) return;
  if (error.kind !== 'misconfigured' && error.kind !== 'garbage') return;
  const { book, traceId } = of;
  await raiseAlert(queriesOf(deps.pool), {
    key: `provider:${of.key}`,
    kind: error.kind === 'garbage' ? 'unreadable_record' : 'provider_misconfigured',
    book,
    detail: error.message,
    traceId,
  }).catch((failure: unknown) => {
    deps.log.error('an alert could not be raised', { code: failure instanceof Error ? failure.name : 'unknown' });
  });
}

/** Only what called the provider says that it is well again. */
function isOfProvider(activityType: string): boolean {
  return /^(provider|page)[A-Z]/.test(activityType);
}

/** After a first try, too: another run met the trouble. What the activity did is done, so this never throws. */
async function mended(deps: ActivityDeps, of: Source): Promise<void> {
  if (of.key === undefined) return;
  await resolveAlert(queriesOf(deps.pool), `provider:${of.key}`).catch((failure: unknown) => {
    deps.log.warn('an alert could not be resolved', { code: failure instanceof Error ? failure.name : 'unknown' });
  });
}
