import type { Child } from 'hono/jsx';
import { toAmount } from '../../../contracts/values.js';
import type { TraceItem } from '../../../db/trace.js';
import { formatTime } from '../format.js';
import type { View } from '../view.js';
import { Amount } from './amount.js';
import { Icon, type IconName } from './icon.js';
import { type Tone, toneOf } from './state-mark.js';

interface Line {
  readonly icon: IconName;
  readonly tone?: Tone;
  readonly what: Child;
  readonly who: Child;
}

/** What happened to a subject, newest first; who did it is always named. `people` are logins by id. */
export function Timeline(of: { view: View; items: readonly TraceItem[]; people: ReadonlyMap<string, string> }) {
  const { view, items, people } = of;
  return (
    <ol class="timeline">
      {items.toReversed().map((item) => {
        const { icon, tone, what, who } = lineOf(view, item, people);
        const [day, time] = formatTime(view, item.at).split(', ');
        return (
          <li>
            <time datetime={item.at.toISOString()} title={day}>
              {time?.split(' ')[0]}
            </time>
            <span class={tone === undefined ? 'dot' : `dot dot--${tone}`}>
              <Icon name={icon} />
            </span>
            <div class="what">
              {what}
              <p class="who">
                {day} · {who}
              </p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function lineOf(view: View, item: TraceItem, people: ReadonlyMap<string, string>): Line {
  switch (item.kind) {
    case 'merchant':
    case 'customer':
    case 'user':
      return { icon: 'person', what: view.t('tl_made', { kind: item.kind, name: item.name }), who: idOf(item.id) };
    case 'api_key':
    case 'api_key_revoked': {
      const what = view.t(item.kind === 'api_key' ? 'tl_key' : 'tl_key_revoked');
      return { icon: 'key', what, who: `${item.book}, ${item.access}` };
    }
    case 'request': {
      const { method, path, refusal } = item;
      const refused = refusal && view.t('tl_request_refused', { method, path, code: refusal.code });
      return { icon: 'activity', what: refused ?? view.t('tl_request', { method, path }), who: idOf(item.id) };
    }
    case 'webhook': {
      const what = view.t('tl_webhook', { type: item.type ?? '–', status: item.status });
      const tone = item.status === 'done' ? 'wait' : 'person';
      return { icon: 'webhook', tone, what, who: `${item.provider}/${item.endpoint} · ${item.deliveryId}` };
    }
    case 'move':
      return moveLine(view, item, people);
    case 'card_change': {
      const { change, outcome, subject } = item;
      return { icon: 'move', what: view.t('tl_card_change', { change }), who: `${subject.id} · ${outcome ?? '…'}` };
    }
    case 'movement':
      return movementLine(view, item);
    case 'event':
      return { icon: 'activity', what: view.t('tl_event', { type: item.type }), who: idOf(item.id) };
    case 'alert': {
      const tone = item.state === 'open' ? 'fail' : undefined;
      const what = view.t('tl_alert', { type: item.type, detail: item.detail });
      return { icon: 'warn', ...(tone && { tone }), what, who: `${item.state} · ${item.times}×` };
    }
    case 'balance_check': {
      const result = view.named('state', item.result ?? 'running');
      const who = <a href={`/operator/balances/checks/${item.id}`}>{item.id}</a>;
      return { icon: 'read', tone: toneOf(item.result ?? ''), what: view.t('tl_balance_check', { result }), who };
    }
    case 'dead_letter':
      return {
        ...{ icon: 'failed', tone: 'fail', what: view.t('tl_dead_letter', { reason: item.reason }) },
        who: <a href={`/operator/deadletters/${item.id}`}>{item.id}</a>,
      };
    case 'decision':
      return decisionLine(view, item, people);
  }
}

function moveLine(view: View, item: Extract<TraceItem, { kind: 'move' }>, people: ReadonlyMap<string, string>): Line {
  const to = view.named('state', item.to);
  const what =
    item.from === null ? view.t('tl_birth', { to }) : view.t('tl_move', { from: view.named('state', item.from), to });
  const reason = item.reason === null ? '' : ` · ${item.reason}`;
  const actor = item.actor.replace(/^user:/, '');
  const who = `${view.t('tl_actor', { actor: people.get(actor) ?? item.actor })} · ${item.subject?.id ?? ''}${reason}`;
  return { icon: 'move', tone: toneOf(item.to), what: <b>{what}</b>, who };
}

function movementLine(view: View, { movement }: Extract<TraceItem, { kind: 'movement' }>): Line {
  const incoming = movement.entries.filter(({ amount }) => amount > 0n);
  return {
    icon: 'ledger',
    what: (
      <>
        {view.named('kind', movement.kind)}{' '}
        {incoming.map((entry) => (
          <Amount view={view} {...toAmount(entry.amount, entry.asset)} />
        ))}
      </>
    ),
    who: idOf(movement.id),
  };
}

function decisionLine(
  view: View,
  item: Extract<TraceItem, { kind: 'decision' }>,
  people: ReadonlyMap<string, string>,
): Line {
  const choice = view.named(`choice_${item.subject?.type ?? ''}`, item.choice);
  const came =
    item.outcome === null ? view.t('tl_decision_open') : `${view.named('state', item.outcome)}: ${item.detail}`;
  return {
    icon: 'person',
    tone: item.outcome === 'applied' ? 'ok' : 'person',
    what: <b>{view.t('tl_decision', { choice, reason: item.reason })}</b>,
    who: `${people.get(item.userId) ?? item.userId} · ${came} · ${item.id}`,
  };
}

function idOf(id: string): Child {
  return <span class="id">{id}</span>;
}
