import type { Child } from 'hono/jsx';
import type { View } from '../view.js';
import { TestBadge } from './state-mark.js';

/** The head of a page: where one is, what it shows, and what stands at its end. */
export function Head(of: {
  view: View;
  title: Child;
  /** Where it belongs: the list of its kind. */
  crumb?: { readonly href: string; readonly name: string };
  state?: Child;
  /** A line below the title. */
  more?: Child;
  end?: Child;
}) {
  const { view, crumb } = of;
  return (
    <>
      {crumb === undefined ? null : (
        <nav class="crumbs" aria-label={view.t('path')}>
          <ol>
            <li>
              <a href={crumb.href}>{crumb.name}</a>
            </li>
          </ol>
        </nav>
      )}
      <div class="head">
        <div>
          <div class="head-title">
            <h1>{of.title}</h1>
            {of.state}
            {view.book === 'test' ? <TestBadge view={view} /> : null}
          </div>
          {of.more === undefined || of.more === null ? null : <p>{of.more}</p>}
        </div>
        <div class="head-end">{of.end}</div>
      </div>
    </>
  );
}
