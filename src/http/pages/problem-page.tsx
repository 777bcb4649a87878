import { BadValue, DatabaseError, Retryable, Unavailable } from '../../db/errors.js';
import type { PageCall, PagesDeps } from './call.js';
import { homeOf } from './navigation.js';
import { PageError, type PageStatus } from './page-error.js';
import { respond } from './respond.js';

type At<Deps extends PagesDeps> = Pick<PageCall<Deps>, 'deps' | 'view' | 'session' | 'path' | 'traceId'>;

/** Any error as a page: what it means and what to do, with the trace to tell us, and nothing of its own words. */
export async function answerProblem<Deps extends PagesDeps>(at: At<Deps>, error: unknown): Promise<Response> {
  const { view, deps, traceId } = at;
  const status = statusOf(deps, error);
  const title = view.t(`problem_${status}`);
  return respond(
    at,
    { title, status },
    <>
      <div class="head">
        <div class="head-title">
          <h1>{title}</h1>
        </div>
      </div>
      <p>{view.t(`problem_${status}_more`)}</p>
      <p class="muted">
        {status} · <span class="id">{view.t('trace', { id: traceId })}</span>
      </p>
      <p>
        <a href={homeOf(deps.audience)}>{view.t('home')}</a>
      </p>
    </>,
  );
}

function statusOf({ log }: PagesDeps, error: unknown): PageStatus {
  if (error instanceof PageError) return error.status;
  // A text that PostgreSQL cannot hold, such as one with a zero byte.
  if (error instanceof BadValue) return 422;
  if (error instanceof Unavailable || error instanceof Retryable) {
    log.warn('The database did not answer a page.', { error, code: error.sqlstate });
    return 503;
  }
  log.error('A page failed for a reason that is a bug.', {
    error,
    code: error instanceof DatabaseError ? error.sqlstate : undefined,
  });
  return 500;
}
