import { isId } from '../../../contracts/ids.js';
import { lookAtCardholder } from '../../../db/look-at-cardholder.js';
import { readLogins } from '../../../db/names.js';
import { readTrace } from '../../../db/trace.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound } from '../../pages/page-error.js';
import { Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Fresh } from '../../pages/parts/moment.js';
import { respond } from '../../pages/respond.js';
import type { ConsoleDeps } from '../console-deps.js';
import { History, peopleOf } from './subject-page.js';

/** Everything about one id that has no page of its own, as `sverka trace` has it. */
export async function tracePage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, params, session, traceId } = call;
  const id = params['id'] ?? '';
  // A pasted key must not travel into a query or an answer.
  if (/^(sk|whsec)_/.test(id)) notFound();
  const person = isId('cardholder', id)
    ? await lookAtCardholder(deps.db, { id, userId: session.userId, traceId })
    : null;
  // Read behind the look, so that the row of it is shown, too.
  const trace = await readTrace(deps.pool, id, null);
  if (trace.items.length === 0) notFound();
  const people = await readLogins(deps.db, peopleOf(trace));
  return respond(
    call,
    { title: id },
    <>
      <Head view={view} title={id} more={view.t('trace_more')} end={<Fresh view={view} at={view.now} />} />
      {person === null ? null : (
        <section class="section" aria-labelledby="h-person">
          <div class="section-head">
            <h2 id="h-person">{view.t('person')}</h2>
            <span class="fresh">{view.t('person_noted')}</span>
          </div>
          <Facts
            view={view}
            facts={[
              { name: 'fact_initials', value: person.initials },
              { name: 'fact_country', value: person.country },
            ]}
          />
        </section>
      )}
      <History view={view} trace={trace} people={people} />
    </>,
  );
}
