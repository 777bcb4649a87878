import type pg from 'pg';
import { toTraceItem } from '../../src/cli/trace-item.js';
import { raiseAlert } from '../../src/db/alerts.js';
import { createPool } from '../../src/db/pool.js';
import { readTrace } from '../../src/db/trace.js';
import { type CardWorld, type IssuedCard, openCardWorld } from '../support/card-world.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import type { RunningWorker } from '../support/worker-world.js';

interface Item {
  readonly kind: string;
  readonly [member: string]: unknown;
}

let it: CardWorld;
let worker: RunningWorker;
let cli: CommandLine;
let pool: pg.Pool;
let card: IssuedCard;
let load: string;
let told: Told;

beforeAll(async () => {
  it = await openCardWorld();
  const { world } = it;
  worker = await world.startWorker();
  pool = createPool(world.database.urlFor('console'), { max: 2, applicationName: 'test-trace' });
  cli = openCommandLine({
    ...runWithConsole(world.database.urlFor('console')),
    temporalAddress: world.config.TEMPORAL_ADDRESS,
    temporalNamespace: world.config.TEMPORAL_NAMESPACE,
    taskQueue: world.config.SVERKA_TASK_QUEUE,
  });
  card = await it.issued('traced');
  load = (await it.load(card, 'traced-load', { prefer: 'wait=10' })).body.id;
  for (const change of ['freeze', 'unfreeze', 'close'] as const) {
    await it.change(card, change, { key: `traced-${change}`, prefer: 'wait=10' });
    await it.settled(card.id);
  }
  const alert = { key: `outcome_unknown:${load}`, kind: 'outcome_unknown', book: 'live', detail: 'Look.' } as const;
  await raiseAlert(world.tx, { ...alert, subject: { type: 'load', id: load } });
  told = await tell(card.id);
});
afterAll(async () => {
  cli.remove();
  await expectMoneyInvariants(it.world.owner, 'any');
  await Promise.all([worker.stop(), pool.end()]);
  await it.close();
});

interface Told {
  readonly items: readonly Item[];
  readonly workflows: readonly string[];
}

/** What the command reads under the console's role; a process for each name would take its time. */
async function tell(name: string): Promise<Told> {
  const { items, scope } = await readTrace(pool, name, null);
  return { items: items.map((item) => toTraceItem(item) as Item), workflows: scope.workflowIds };
}

/** Of one kind, one member, in alphabetical order. */
function of({ items }: Told, kind: string, member: string): string[] {
  return items
    .filter((item) => item.kind === kind)
    .map((item) => String(item[member]))
    .sort();
}

interface Movement {
  readonly id: string;
  readonly kind: string;
}

function movementsIn({ items }: Told): Movement[] {
  return items.flatMap(({ movement }) => (movement ? [movement as Movement] : []));
}

function kindsOf(movements: readonly Movement[]): string[] {
  return movements.map(({ kind }) => kind).sort();
}

function movementOf(story: Told, kind: string): string {
  return movementsIn(story).find((movement) => movement.kind === kind)?.id ?? `no ${kind}`;
}

function idOf({ items }: Told, kind: string, has: string): string {
  return String(items.find((item) => item.kind === kind && JSON.stringify(item).includes(has))?.['id']);
}

test('the story of a card has its issuance, load and changes, each with request, money and workflow', async () => {
  expect(of(told, 'request', 'path')).toEqual([
    '/v1/cards',
    `/v1/cards/${card.id}/close`,
    `/v1/cards/${card.id}/freeze`,
    `/v1/cards/${card.id}/loads`,
    `/v1/cards/${card.id}/unfreeze`,
  ]);
  const changes = [1, 2, 3].map((number) => `card-change:live:${card.id}:${number}`);
  expect([...told.workflows].sort()).toEqual([
    ...changes,
    expect.stringMatching(/^card-load:live:/),
    expect.stringMatching(/^issuance:live:/),
  ]);
  const kinds = ['card_return', 'issuance_hold', 'issuance_settle', 'load_hold', 'load_settle'];
  expect(kindsOf(movementsIn(told))).toEqual(expect.arrayContaining(kinds));
  expect(of(told, 'card_change', 'change')).toEqual(['close', 'freeze', 'unfreeze']);
  expect(of(told, 'alert', 'type')).toEqual(['outcome_unknown']);
  const actors = [`merchant:${it.merchant.id}`, 'worker:issuer'];
  expect(of(told, 'move', 'actor')).toEqual(expect.arrayContaining(actors));
  // Any other name of it tells the same, and so does what is about the card alone.
  const { id: issuance } = (await it.card(card.id)).issuance;
  const workflow = told.workflows.find((id) => id.startsWith('issuance:')) ?? '';
  for (const name of [issuance, card.ref, workflow, movementOf(told, 'card_return')]) {
    expect([name, (await tell(name)).items]).toEqual([name, told.items]);
  }
});

test('a load is told alone, by its id, its request, its workflow and what it moved', async () => {
  const story = await tell(load);
  const { items, workflows } = story;
  expect([...new Set(items.map(({ kind }) => kind))].sort()).toEqual([
    ...['alert', 'event', 'move', 'movement', 'request'],
  ]);
  expect(items.filter(({ kind }) => kind === 'move').map(({ from, to }) => [from, to])).toEqual([
    ...[
      [null, 'reserved'],
      ['reserved', 'submitted'],
      ['submitted', 'completed'],
    ],
  ]);
  expect(kindsOf(movementsIn(story))).toEqual(['load_hold', 'load_settle']);
  expect(of(story, 'request', 'path')).toEqual([`/v1/cards/${card.id}/loads`]);
  expect(workflows).toEqual([expect.stringMatching(/^card-load:live:/)]);
  for (const name of [
    ...[idOf(story, 'request', '/loads'), workflows[0] ?? '', movementOf(story, 'load_settle')],
    ...[idOf(story, 'event', 'load.completed'), idOf(story, 'alert', 'Look.')],
  ]) {
    const same = await tell(name);
    expect([name, kindsOf(movementsIn(same)), same.workflows, of(same, 'alert', 'detail')]).toEqual([
      ...[name, ['load_hold', 'load_settle'], workflows, ['Look.']],
    ]);
  }
});

test('a change of a card is told alone, by its workflow and its request, with how it ended', async () => {
  const request = told.items.find(({ kind, change }) => kind === 'card_change' && change === 'close')?.['request_id'];
  const workflow = `card-change:live:${card.id}:3`;
  for (const name of [workflow, String(request)]) {
    const story = await tell(name);
    expect(story.items.filter(({ kind }) => kind === 'card_change')).toEqual([
      expect.objectContaining({
        ...{ subject: { type: 'card', id: card.id }, number: 3, change: 'close', outcome: 'confirmed' },
        ...{ needs_operator: false, submitted_at: expect.any(String), done_at: expect.any(String) },
      }),
    ]);
    expect(of(story, 'request', 'path')).toEqual([`/v1/cards/${card.id}/close`]);
    expect(story.workflows).toEqual([workflow]);
    expect(of(story, 'move', 'to')).toEqual(['closed']);
    expect(of(story, 'event', 'type')).toEqual(['card.closed']);
    expect(kindsOf(movementsIn(story))).toEqual(['card_return']);
  }
  for (const unknown of ['card-change:live:card_x:1', `card-change:live:${card.id}:many`]) {
    expect((await tell(unknown)).items).toEqual([]);
  }
});

test('a cardholder’s story has the loads and changes of his cards', async () => {
  const { cardholder_id: holder } = await it.card(card.id);
  expect((await tell(holder)).items).toEqual(expect.arrayContaining([...told.items]));
});

test('the command shows the change and its run', async () => {
  const { stdout } = await cli.run('trace', `card-change:live:${card.id}:3`);
  expect(stdout).toMatch(/card change +card_\w+ +3: close, confirmed at /);
  expect(stdout).toMatch(/workflow +cardChange +card-change:live:card_\w+:3 completed/);
});
