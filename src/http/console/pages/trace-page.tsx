import { readLogins } from '../../../db/names.js';
import { readTrace } from '../../../db/trace.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { Head } from '../../pages/parts/head.js';
import { Fresh } from '../../pages/parts/moment.js';
import { respond } from '../../pages/respond.js';
import type { ConsoleDeps } from '../console-deps.js';
import { History, peopleOf } from './subject-page.js';

/** Everything about one id that has no page of its own, as `sverka trace` has it. */
export async function tracePage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, params } = call;
  const id = params['id'] ?? '';
  // A pasted key must not travel into a query or an answer.
  if (/^(sk|whsec)_/.test(id)) notFound();
  const trace = await readTrace(deps.pool, id, null);
  if (trace.items.length === 0) notFound();
  const people = await readLogins(deps.db, peopleOf(trace));
  return respond(
    call,
    { title: id },
    <>
      <Head view={view} title={id} more={view.t('trace_more')} end={<Fresh view={view} at={view.now} />} />
      <History view={view} trace={trace} people={people} />
    </>,
  );
}
