import { createHash } from 'node:crypto';
import { raiseAlert } from '../../src/db/alerts.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { createMerchant } from '../../src/db/merchants.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { depositOf } from '../support/deposit-facts.js';
import {
  CANARY_CARD,
  type DepositWorld,
  type MadeAddress,
  openDepositWorld,
  SOURCE,
} from '../support/deposit-world.js';

let world: DepositWorld;
let cli: CommandLine;
let address: MadeAddress;
let key: string;
/** The custodian's ids: credited, parked, and one that no deposit came of. */
const refs: string[] = [];

beforeAll(async () => {
  world = await openDepositWorld();
  cli = openCommandLine(runWithConsole(world.database.urlFor('console')));
  key = 'order-7';
  address = await world.address({ key, customerRef: 'player-7' });
  for (const body of [
    { amount: '25', status: 'completed' },
    { amount: '0.1234567', status: 'completed' },
  ]) {
    refs.push(await world.arrive(address, body));
  }
  await notify(refs[0] ?? '');
  for (const ref of refs) await world.read(ref);
});
afterAll(async () => {
  cli.remove();
  await world.close();
});

/** A notification, through the relay's own door. */
async function notify(ref: string, deliveryId = `ev-${ref}`): Promise<void> {
  const relay = createPool(world.database.urlFor('relay'), { max: 1, applicationName: 'test' });
  const body = Buffer.from(JSON.stringify({ deposit: ref, card: CANARY_CARD }));
  await acceptDeliveries(queriesOf(relay), [
    {
      ...{ provider: SOURCE.provider, endpoint: SOURCE.account, book: SOURCE.book, deliveryId, body },
      ...{ eventType: 'deposit.changed', subject: { type: 'deposit', ref }, parkedReason: null },
      ...{ traceId: TRACE, bodyHash: createHash('sha256').update(body).digest() },
    },
  ]);
  await relay.end();
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
type Item = Record<string, unknown> & { kind: string; at: string };

async function itemsOf(id: string, ...flags: string[]): Promise<Item[]> {
  return (await cli.json(['trace', id, ...flags]))['items'] as Item[];
}
const kindsOf = (items: readonly Item[]) => [...new Set(items.map(({ kind }) => kind))].sort();

describe('deposits', () => {
  it('show answers the resource of the API, whoever owns it', async () => {
    const { id, hash } = await depositOf(world.owner, refs[0] ?? '');
    expect(await cli.json(['deposits', 'show', id])).toMatchObject({
      object: 'deposit',
      id,
      state: 'final',
      owner: { type: 'customer', id: address.customerId, ref: 'player-7' },
      transaction: { hash },
      reported: { amount: '25', asset: 'USDT-TRC20' },
      credited: { amount: '25.000000', asset: 'USDT-TRC20' },
      movement_ids: [expect.stringMatching(/^mov_/)],
    });
    await cli.problem(['deposits', 'show', id, '--book', 'test'], 3);
    await cli.problem(['deposits', 'show', 'dep_00000000000000000000000000'], 3);
  });

  it('list filters and pages, newest first', async () => {
    const [final, parked] = await Promise.all(refs.map((ref) => depositOf(world.owner, ref)));
    const ids = async (...flags: string[]) => {
      const { data } = await cli.json(['deposits', 'list', ...flags]);
      return (data as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids()).toEqual([parked?.id, final?.id]);
    expect(await ids('--state', 'final', '--state', 'credited')).toEqual([final?.id]);
    expect(await ids('--book', 'test')).toEqual([]);
    expect(await ids('--customer', 'player-7', '--hash', final?.hash ?? '')).toEqual([final?.id]);
    expect(await ids('--merchant', await createMerchant(queriesOf(world.owner), 'Ostwind'))).toEqual([]);
    const first = await cli.json(['deposits', 'list', '--limit', '1']);
    expect(await ids('--limit', '1', '--cursor', String(first['next_cursor']))).toEqual([final?.id]);
    await cli.problem(['deposits', 'list', '--state', 'paid'], 2);
  });

  it('list for a person puts amounts on the right and times in UTC', async () => {
    const { stdout, stderr } = await cli.run('deposits', 'list');
    const [head, ...rows] = stdout.trimEnd().split('\n');
    const right = (head ?? '').indexOf('REPORTED') + 'REPORTED'.length;
    expect(rows.map((row) => row.slice(0, right).split(' ').at(-1))).toEqual(['0.1234567', '25']);
    expect(rows.every((row) => /\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}$/.test(row))).toBe(true);
    expect(head).toContain('CREATED (UTC)');
    // No terminal, no colours.
    expect(stdout + stderr).not.toContain('\u001b');
  });
});

describe('trace', () => {
  it('of a deposit has every part of its story, in order', async () => {
    const { id } = await depositOf(world.owner, refs[0] ?? '');
    const items = await itemsOf(id);
    expect(kindsOf(items)).toEqual(['event', 'move', 'movement', 'request', 'webhook']);
    expect(items.map(({ at }) => at)).toEqual(items.map(({ at }) => at).sort());
    const moves = items.filter((item) => item.kind === 'move' && (item['subject'] as { id: string }).id === id);
    expect(moves.map(({ from, to, actor }) => [from, to, actor])).toEqual([
      [null, 'noticed', 'worker:custody'],
      ['noticed', 'confirming', 'worker:custody'],
      ['confirming', 'credited', 'worker:custody'],
      ['credited', 'final', 'worker:custody'],
    ]);
    expect(items.find(({ kind }) => kind === 'movement')).toMatchObject({
      movement: {
        object: 'movement',
        subject: { type: 'deposit', id },
        entries: expect.arrayContaining([
          expect.objectContaining({ amount: { amount: '-25.000000', asset: 'USDT-TRC20' } }),
          expect.objectContaining({ amount: { amount: '25.000000', asset: 'USDT-TRC20' } }),
        ]),
      },
    });
    expect(items.find(({ kind }) => kind === 'request')).toMatchObject({
      key,
      subject: { id: address.id },
      made: true,
    });
    expect(items.find(({ kind }) => kind === 'webhook')).toMatchObject({
      status: 'done',
      trace_id: TRACE,
      conflicts: 0,
    });
    const events = items.filter(({ kind }) => kind === 'event').map(({ type }) => type);
    expect(events).toEqual(['deposit.confirming', 'deposit.credited', 'deposit.final']);
  });

  it('finds the same story by every name it has', async () => {
    const { id, hash, movements } = await depositOf(world.owner, refs[0] ?? '');
    const story = await itemsOf(id);
    const event = story.find(({ kind }) => kind === 'event')?.['id'] as string;
    const webhook = story.find(({ kind }) => kind === 'webhook')?.['id'] as string;
    const names = [refs[0], hash, movements[0], event, webhook, `deposit:live:custody:${refs[0]}`];
    for (const name of names) expect([name, await itemsOf(name ?? '')]).toEqual([name, story]);
    const byOwner = await itemsOf(address.customerId ?? '');
    expect(byOwner).toEqual(expect.arrayContaining(story));
    expect(await itemsOf(address.id)).toEqual(expect.arrayContaining(story));
    expect(await itemsOf(world.merchantId)).toEqual(
      expect.arrayContaining(story.filter(({ kind }) => kind !== 'webhook')),
    );
  });

  it('of a request, and of its workflow, has what it made and not what came later', async () => {
    const request = (await itemsOf(address.id)).find(({ kind }) => kind === 'request')?.['id'] as string;
    const workflow = `deposit-address:live:${world.merchantId}:${request.slice(4)}`;
    for (const name of [request, workflow]) {
      expect((await itemsOf(name)).map(({ kind }) => kind).sort()).toEqual(['move', 'move', 'request']);
    }
  });

  it('of a trace id has the rows of that call alone', async () => {
    expect(await itemsOf(TRACE)).toMatchObject([{ kind: 'webhook', trace_id: TRACE }]);
    const [row] = (await world.owner.query('select trace_id from sverka.audit where subject_id = $1', [address.id]))
      .rows;
    expect(kindsOf(await itemsOf(row.trace_id))).toEqual(['move', 'request']);
  });

  it('of a notification before there is a deposit, of an alert and of a wallet', async () => {
    await notify('cd-nobody-knows');
    expect(await itemsOf('cd-nobody-knows')).toMatchObject([{ kind: 'webhook', status: 'pending' }]);
    const { id } = await depositOf(world.owner, refs[1] ?? '');
    await raiseAlert(queriesOf(world.pool), {
      ...{ key: `parked:${id}`, kind: 'deposit_parked', book: 'live' },
      ...{ subject: { type: 'deposit', id }, detail: 'Decide what it is.' },
    });
    const alert = (await itemsOf(id)).find(({ kind, type }) => kind === 'alert' && type === 'deposit_parked');
    expect(await itemsOf(String(alert?.['id']))).toEqual(await itemsOf(id));
    const { wallets } = await cli.json(['merchants', 'show', world.merchantId]);
    const wallet = (wallets as Record<string, { id: string }>)['live']?.id ?? '';
    expect(await itemsOf(wallet)).toEqual(await itemsOf(world.merchantId, '--book', 'live'));
  });

  it('tells a conflict of bodies and never shows a body', async () => {
    const relay = createPool(world.database.urlFor('relay'), { max: 1, applicationName: 'test' });
    const body = Buffer.from(`another ${CANARY_CARD}`);
    const ref = refs[0] ?? '';
    await acceptDeliveries(queriesOf(relay), [
      {
        ...{ provider: 'custody', endpoint: 'main-live', book: 'live', deliveryId: `ev-${ref}`, body },
        ...{ eventType: 'deposit.changed', subject: { type: 'deposit', ref }, parkedReason: null },
        ...{ traceId: TRACE, bodyHash: createHash('sha256').update(body).digest() },
      },
    ]);
    await relay.end();
    const items = await itemsOf(ref);
    expect(items.filter(({ kind }) => kind === 'webhook').map(({ conflicts }) => conflicts)).toEqual([1, 0]);
    expect(items.some(({ kind, type }) => kind === 'alert' && type === 'inbox_conflict')).toBe(true);
    for (const format of [[], ['--json']]) {
      const { stdout, stderr } = await cli.run('trace', ref, ...format);
      expect(stdout + stderr).not.toContain(CANARY_CARD);
    }
  });

  it('for a person shows entries as signed amounts, one under the other', async () => {
    const { id } = await depositOf(world.owner, refs[0] ?? '');
    const { stdout, stderr } = await cli.run('trace', id);
    const amounts = stdout.split('\n').filter((line) => /[+-]25\.000000 /.test(line));
    expect(new Set(amounts.map((line) => line.trim().split(/ {2,}/)[0]))).toEqual(
      new Set(['+25.000000', '-25.000000']),
    );
    expect(new Set(amounts.map((line) => line.indexOf('25.000000'))).size).toBe(1);
    // Nothing was said of Temporal in the run file: the story is told, and that it lacks the workflows.
    expect(stderr).toContain('Workflows are not shown');
  });

  it('of an id that nobody knows ends with 3', async () => {
    for (const id of ['nobody', 'dep_00000000000000000000000000', 'f'.repeat(32), 'wal_00000000000000000000000000']) {
      expect(await cli.problem(['trace', id], 3)).toMatchObject({ code: 'not_found' });
    }
    const { id } = await depositOf(world.owner, refs[0] ?? '');
    await cli.problem(['trace', id, '--book', 'test'], 3);
  });
});
