import { toMovement } from '../contracts/movement.js';
import { toTime } from '../contracts/values.js';
import type { TraceItem, TraceSubject } from '../db/trace.js';
import type { Output } from './output.js';
import { type Cell, utc } from './output.js';
import type { WorkflowItem } from './workflows-of.js';

export type Item = TraceItem | WorkflowItem;

/** An item as the document shows it: snake_case, every member there, times as in the API. */
export function toTraceItem(item: Item): Record<string, unknown> {
  if (item.kind === 'movement') return { at: toTime(item.at), kind: item.kind, movement: toMovement(item.movement) };
  const { at, kind, ...rest } = item;
  const members = Object.entries(rest).map(([name, value]) => [
    snakeCase(name),
    value instanceof Date ? toTime(value) : value,
  ]);
  return { at: toTime(at), kind, ...Object.fromEntries(members) };
}

/** An item as rows of time, what, about, amount and detail; a movement has one row more for each entry. */
export function traceRows(item: Item, mark: Output['mark']): Cell[][] {
  const row = (what: Cell, about: string, detail: string): Cell[][] => [[utc(item.at), what, about, '', detail]];
  switch (item.kind) {
    case 'merchant':
    case 'customer':
    case 'user':
      return row(`${item.kind} made`, item.id, item.name);
    case 'api_key':
      return row('key made', item.id, `${item.book}, ${item.access}`);
    case 'api_key_revoked':
      return row({ text: 'key revoked', mark: mark.warn }, item.id, `${item.book}, ${item.access}`);
    case 'request': {
      const found = `${item.made ? 'made' : 'found'} ${subject(item.subject)}`;
      const led = item.refusal ? `refused: ${item.refusal.code}` : found;
      return row('request', item.id, `${item.method} ${item.path} (key ${item.key}) ${led}`);
    }
    case 'webhook': {
      const conflicts = item.conflicts > 0 ? `; ${item.conflicts} other bodies under its id` : '';
      const status = `${item.status}${item.reason === null ? '' : ` (${item.reason})`}`;
      const from = `${item.provider}/${item.endpoint}`;
      const detail = `${item.type ?? 'no type'} ${item.subject?.id ?? ''} by ${from}: ${status}`;
      return row({ text: 'webhook', mark: item.status === 'done' ? plain : mark.warn }, item.id, detail + conflicts);
    }
    case 'move': {
      const reason = item.reason === null ? '' : ` (${item.reason})`;
      const detail = `${item.from ?? 'birth'} → ${item.to}${reason} by ${item.actor}`;
      return row('move', item.subject?.id ?? '', detail);
    }
    case 'card_change': {
      const told = item.submittedAt === null ? 'not told to the issuer yet' : `told at ${utc(item.submittedAt)}`;
      const ended = item.doneAt === null ? told : `${item.outcome} at ${utc(item.doneAt)}`;
      const waits = item.needsOperator ? ', needs a person' : '';
      return row('card change', item.subject.id, `${item.number}: ${item.change}, ${ended}${waits}`);
    }
    case 'movement':
      return movementRows(item, mark);
    case 'event':
      return row('event', item.id, `${item.type} of ${subject(item.subject)}, version ${item.version}`);
    case 'alert':
      return row(
        { text: 'alert', mark: item.state === 'open' ? mark.bad : plain },
        item.id,
        `${item.type}, ${item.state}, ${item.times}×: ${item.detail}`,
      );
    case 'balance_check': {
      const detail = `${subject(item.subject)}, by ${item.trigger}: ${item.result ?? 'under way'}`;
      return row('balance check', item.id, `${detail}, ${item.changesRead} changes read`);
    }
    case 'dead_letter':
      return row(
        { text: 'dead letter', mark: item.state === 'open' ? mark.bad : plain },
        item.id,
        `of ${item.inboxId}, ${item.state}, ${item.attempts} attempts, ${item.replays} replays: ${item.reason}`,
      );
    case 'decision': {
      const came = item.outcome === null ? 'not applied yet' : `${item.outcome}: ${item.detail}`;
      const detail = `${item.choice} ${subject(item.subject)} by ${item.userId} (${item.reason}), ${came}`;
      return row({ text: 'decision', mark: item.outcome === 'applied' ? plain : mark.warn }, item.id, detail);
    }
    case 'workflow': {
      const end = item.closedAt === null ? '' : ` at ${utc(item.closedAt)}`;
      return row('workflow', item.type, `${item.id} ${item.status}${end}`);
    }
  }
}

function movementRows(item: Extract<Item, { kind: 'movement' }>, mark: Output['mark']): Cell[][] {
  const { id, kind, entries } = toMovement(item.movement);
  const head: Cell[] = [utc(item.at), 'movement', id, '', kind];
  const legs = entries.map(({ account, amount, balance }): Cell[] => {
    const incoming = !amount.amount.startsWith('-');
    const signed = { text: `${incoming ? '+' : ''}${amount.amount}`, mark: incoming ? mark.good : plain };
    const owner = account.owner.ref ?? account.owner.id;
    const named = `${account.kind}${account.ref === null ? '' : ` ${account.ref}`} of ${owner}`;
    return ['', '', '', signed, `${amount.asset} ${named}, then ${balance.amount}`];
  });
  return [head, ...legs];
}

function subject(about: TraceSubject | null): string {
  return about === null ? 'nothing' : `${about.type} ${about.id}`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function plain(text: string): string {
  return text;
}
