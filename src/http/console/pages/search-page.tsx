import { type Found, searchSubjects } from '../../../db/search.js';
import type { SignedCall } from '../../pages/call.js';
import { Head } from '../../pages/parts/head.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { redirect, respond } from '../../pages/respond.js';
import type { ConsoleDeps } from '../console-deps.js';
import { subjectHref } from '../subject-href.js';

const TEXT_MAX = 200;

/** One box for any id, hash, reference or last four digits: one hit is its page, several are a list. */
export async function searchPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, query } = call;
  const text = (query.get('q') ?? '').trim().slice(0, TEXT_MAX);
  // A pasted key must not travel into a query or an answer.
  const isSecret = /^(sk|whsec)_/.test(text);
  const found = text === '' || isSecret ? [] : await searchSubjects(deps.db, text);
  const [only, ...others] = found;
  if (only && others.length === 0) return redirect(hrefOf(only));
  return respond(
    call,
    { title: view.t('search') },
    <>
      <Head view={view} title={view.t('search')} more={isSecret ? view.t('search_secret') : text} />
      {found.length === 0 ? (
        <p class="muted">{view.t('search_nothing')}</p>
      ) : (
        <table class="table table--stack">
          <thead>
            <tr>
              <th scope="col">{view.t('col_id')}</th>
              <th scope="col">{view.t('col_kind')}</th>
              <th scope="col">{view.t('found_by')}</th>
              <th scope="col">{view.t('col_book')}</th>
              <th scope="col">{view.t('col_state')}</th>
            </tr>
          </thead>
          <tbody>
            {found.map((hit) => (
              <tr>
                <th scope="row" class="lead">
                  <a class="id" href={hrefOf(hit)}>
                    {hit.id}
                  </a>
                </th>
                <td class="value">{view.named('found', hit.type)}</td>
                <td class="keep">{view.named('by', hit.by)}</td>
                <td>{hit.book === null ? null : view.named('book', hit.book)}</td>
                <td class="word">{hit.state === null ? null : <StateMark view={view} state={hit.state} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>,
  );
}

function hrefOf({ type, id, book }: Found): string {
  return subjectHref(type, id, book) ?? `/operator/trace/${encodeURIComponent(id)}`;
}
