import type { ListPage } from '../list-page.js';
import { type ListFilter, type ListQuery, listHref } from '../list-query.js';
import type { View } from '../view.js';
import { SelectField, TextField } from './field.js';
import { Icon } from './icon.js';

interface Props<Row> {
  readonly view: View;
  readonly list: Pick<ListPage<Row>, 'path' | 'title' | 'filters'>;
  readonly asked: ListQuery;
}

/** The filters of a list: a form that becomes an address. */
export function FilterBar<Row>({ view, list, asked }: Props<Row>) {
  return (
    <form class="toolbar" method="get" action={list.path} role="search" aria-label={view.t(list.title)}>
      {list.filters.map((filter) => (
        <FilterField view={view} filter={filter} value={asked.filters[filter.name] ?? ''} />
      ))}
      <input type="hidden" name="sort" value={`${asked.sort.descending ? '-' : ''}${asked.sort.name}`} />
      <button type="submit" class="btn">
        {view.t('filter')}
      </button>
    </form>
  );
}

/** What is filtered now, each with a link that takes it away. */
export function FilterChips<Row>({ view, list, asked }: Props<Row>) {
  const set = list.filters.filter(({ name, isRequired }) => asked.filters[name] !== undefined && !isRequired);
  if (set.length === 0) return null;
  return (
    <div class="chips">
      <span class="muted">{view.t('where')}</span>
      {set.map((filter) => (
        <span class="chip">
          {view.t(filter.label)} <b>{shownValue(view, filter, asked.filters[filter.name] ?? '')}</b>{' '}
          <a
            href={listHref(list.path, asked, { [filter.name]: null })}
            aria-label={view.t('remove_filter', { name: view.t(filter.label) })}
          >
            <Icon name="close" />
          </a>
        </span>
      ))}
    </div>
  );
}

function FilterField({ view, filter, value }: { view: View; filter: ListFilter; value: string }) {
  const { name, choices, isDay } = filter;
  const label = view.t(filter.label);
  if (!choices)
    return <TextField id={name} label={label} value={value} type={isDay ? 'date' : 'search'} maxlength={200} />;
  const options = choices.map((choice) => ({ value: choice, label: shownValue(view, filter, choice) }));
  return (
    <SelectField
      id={name}
      label={label}
      value={value}
      options={filter.isRequired ? options : [{ value: '', label: view.t('any') }, ...options]}
    />
  );
}

function shownValue(view: View, { prefix }: ListFilter, value: string): string {
  return prefix === undefined ? value : view.named(prefix, value);
}
