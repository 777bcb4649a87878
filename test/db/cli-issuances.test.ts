import { join } from 'node:path';
import { createLoginLink } from '../../src/db/login-links.js';
import { writeLoginFile } from '../../src/local/login-file.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { makePerson } from '../support/decisions.js';
import { type IssuanceWorld, openIssuanceWorld } from '../support/issuance-world.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { startSweep } from '../support/worker-inbox.js';
import type { RunningWorker } from '../support/worker-world.js';

let it: IssuanceWorld;
let worker: RunningWorker;
let sweep: string;
let cli: CommandLine;

beforeAll(async () => {
  it = await openIssuanceWorld({
    settings: { SVERKA_UNKNOWN_LOOKUP_INTERVAL: '50ms', SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX: '100ms' },
  });
  const { world } = it;
  worker = await world.startWorker();
  sweep = await startSweep(world);
  cli = openCommandLine({
    ...runWithConsole(world.database.urlFor('console')),
    temporalAddress: world.config.TEMPORAL_ADDRESS,
    temporalNamespace: world.config.TEMPORAL_NAMESPACE,
    taskQueue: world.config.SVERKA_TASK_QUEUE,
  });
  await makePerson(world.owner, 'operator');
  writeLoginFile(join(cli.state, 'login', 'operator'), (await createLoginLink(world.tx, 'operator')) ?? '');
});
afterEach(() => expectMoneyInvariants(it.world.owner, 'any'));
afterAll(async () => {
  cli.remove();
  await it.world.temporal.client.workflow.getHandle(sweep).terminate();
  await worker.stop();
  await it.close();
});

const BY = ['--reason', 'asked the issuer', '--as', 'operator', '--yes'];
let keys = 0;

/** An issuance whose create had an odd answer; `made`: there is a card, which only its own id finds. */
async function unknown({ made = false } = {}): Promise<{ cardId: string; id: string; ref: string }> {
  if (made) await fault({ match: { method: 'GET', path: '/v1/cards' }, fault: 'not_found' });
  const kind = made ? { fault: 'lost_answer' } : { fault: 'status', status: 409 };
  await fault({ match: { method: 'POST', path: '/v1/cards' }, ...kind, times: 1 });
  const { body } = await it.issue(`unknown-${(keys += 1)}`, { prefer: 'wait=0' });
  await eventually(async () => (await it.card(body.id)).issuance.state === 'unknown');
  const { id } = (await it.card(body.id)).issuance;
  const effect = (await it.issuer.truth()).effects.find(({ reference }) => reference === id);
  expect(effect !== undefined).toBe(made);
  return { cardId: body.id, id, ref: effect?.id ?? '' };
}

async function fault(body: object): Promise<string> {
  return (await it.issuer.drive('POST', '/_sim/faults', body)).id;
}

async function mend(): Promise<void> {
  const { faults } = (await it.issuer.drive('GET', '/_sim/faults')) as unknown as { faults: { id: string }[] };
  for (const { id } of faults) await it.issuer.drive('DELETE', `/_sim/faults/${id}`);
}

describe('issuances list and show', () => {
  test('have what the API has, and what stands beside it; the id of the card does, too', async () => {
    const { body } = await it.issue('listed');
    const made = (await it.card(body.id)).issuance.id;
    // Its notification asks once more; from then on nobody does.
    const done = `select from sverka.inbox where subject_ref = $1 and status = 'done'`;
    await eventually(async () => (await it.world.tx.query(done, [made])).length > 0);
    const { issuance } = await it.card(body.id);
    const shown = await cli.json(['issuances', 'show', issuance.id]);
    expect(shown).toMatchObject({
      ...{ object: 'issuance', ...issuance, card_id: body.id, merchant_id: it.merchant.id, book: 'live' },
      ...{
        product: 'instant',
        provider_status: 'active',
        flag: null,
        needs_operator: false,
        looks: expect.any(Number),
      },
      ...{ alert: null, choices: [] },
    });
    expect({ ...(await cli.json(['issuances', 'show', body.id])), age_ms: 0, unread_ms: 0 }).toEqual({
      ...shown,
      ...{ age_ms: 0, unread_ms: 0 },
    });
    const ids = async (...flags: string[]) => {
      const { data } = await cli.json(['issuances', 'list', ...flags]);
      return (data as { id: string }[]).map(({ id }) => id);
    };
    expect(await ids('--card', body.id)).toEqual([issuance.id]);
    expect(await ids('--state', 'active', '--merchant', it.merchant.id)).toContain(issuance.id);
    expect(await ids('--card', body.id, '--state', 'failed')).toEqual([]);
    expect(await ids('--card', body.id, '--book', 'test')).toEqual([]);
    await cli.problem(['issuances', 'show', issuance.id, '--book', 'test'], 3);
    await cli.problem(['issuances', 'show', 'card_00000000000000000000000000'], 3);
    await cli.problem(['issuances', 'list', '--state', 'lost'], 2);
  });
});

describe('issuances decide', () => {
  test('without a choice shows all that is known and ends with 5; declared failed, the money is back', async () => {
    const before = await it.available();
    const { cardId, id } = await unknown();
    const waiting = (await cli.json(['issuances', 'unknown']))['data'] as Record<string, unknown>[];
    expect(waiting.map((each) => each['id'])).toEqual([id]);
    expect(waiting[0]).toMatchObject({
      ...{ state: 'unknown', reason: 'create_unanswered', provider_ref: null, provider_status: null },
      ...{ age_ms: expect.any(Number), choices: ['link', 'declare_failed', 'issue_again'] },
    });
    const { stdout } = await cli.run('issuances', 'unknown');
    for (const text of [id, 'create_unanswered', 'no card', '--declare-failed']) expect(stdout).toContain(text);
    expect(await cli.json(['issuances', 'decide', cardId], 5)).toMatchObject({
      ...{ object: 'pending_decision', needed: true, choices: ['link', 'declare_failed', 'issue_again'] },
      subject: { object: 'issuance', id, state: 'unknown', load: { amount: '25.00', asset: 'USD' } },
    });
    const person = await cli.run('issuances', 'decide', id);
    expect([person.code, person.stdout]).toEqual([5, expect.stringContaining('--link or --declare-failed or ')]);
    expect(await cli.json(['issuances', 'decide', cardId, '--declare-failed', ...BY])).toMatchObject({
      ...{ object: 'decision', subject_type: 'issuance', subject_id: id, choice: 'declare_failed', argument: null },
      ...{ user: 'operator', outcome: 'applied', subject: { state: 'failed', reason: 'declared_failed' } },
    });
    expect(await it.available()).toBe(before);
    // It can still be issued again, but nothing waits for that.
    expect(await cli.json(['issuances', 'decide', id])).toMatchObject({ needed: false, choices: ['issue_again'] });
    expect((await cli.json(['issuances', 'unknown']))['data']).toEqual([]);
  });

  test('links to the card that the issuer has under its own id, and to no other', async () => {
    const { cardId, id, ref } = await unknown({ made: true });
    const none = await cli.json(['issuances', 'decide', id, '--link', 'icd_nobody', ...BY], 4);
    expect(none).toMatchObject({ outcome: 'void', detail: 'the issuer shows no such card', argument: 'icd_nobody' });
    expect(await cli.json(['issuances', 'decide', id, '--link', ref, '--dry-run', ...BY])).toMatchObject({
      object: 'dry_run',
      would: `link ${ref} to issuance ${id} as operator`,
    });
    const { code, stdout } = await cli.run('issuances', 'decide', id, '--link', ref, ...BY);
    expect([code, stdout]).toEqual([0, expect.stringContaining('The issuance is active.')]);
    expect(await it.card(cardId)).toMatchObject({ state: 'active', loaded: { amount: '25.00' } });
    await mend();
  });

  test('issues the same card again, with a fresh reserve', async () => {
    const { cardId, id } = await unknown();
    const { code, stdout } = await cli.run('issuances', 'decide', id, '--issue-again', ...BY);
    expect(code).toBe(0);
    expect(stdout).toMatch(/The issuance is failed \(issued_again\)\. The card is issued again by iss_/);
    await eventually(async () => (await it.card(cardId)).state === 'active');
    const { data } = await cli.json(['issuances', 'list', '--card', cardId]);
    expect((data as { state: string }[]).map(({ state }) => state)).toEqual(['active', 'failed']);
    // The card's id names the newest of them.
    expect(await cli.json(['issuances', 'show', cardId])).toMatchObject({ generation: 1, state: 'active' });
  });

  test('is wrong usage with two choices or with what is no id of a card there, and 4 for what is not so', async () => {
    const { cardId, id } = await unknown();
    for (const wrong of [
      ['--declare-failed', '--issue-again', ...BY],
      ['--link', '4111111111111111', ...BY],
      ['--link', 'two words', ...BY],
      ['--declare-failed', '--as', 'operator', '--yes'],
      ['--declare-failed', '--as', 'operator', '--yes', '--reason', 'it was 4111 1111 1111 1111'],
    ]) {
      await cli.problem(['issuances', 'decide', id, ...wrong], 2);
    }
    expect(await it.world.tx.query('select 1 from sverka.decision where subject_id = $1', [id])).toEqual([]);
    await cli.json(['issuances', 'decide', cardId, '--declare-failed', ...BY]);
    const again = await cli.problem(['issuances', 'decide', id, '--declare-failed', ...BY], 4);
    expect(again).toMatchObject({ code: 'invalid_state', detail: expect.stringContaining('possible: --issue-again') });
  });
});

describe('trace', () => {
  test('tells the story of a card by every name it has, and nothing of who holds it', async () => {
    const holder = await it.cardholderWith({ first_name: 'Zebulon', document: 'QX-774' });
    const { body } = await it.issue('traced', { product: 'async', prefer: 'respond-async', cardholder: holder });
    await eventually(async () => (await it.card(body.id)).state === 'active');
    const { id } = (await it.card(body.id)).issuance;
    const { provider_ref } = await cli.json(['issuances', 'show', id]);
    const itemsOf = async (name: string) =>
      (await cli.json(['trace', name]))['items'] as { kind: string; id?: string }[];
    await eventually(async () =>
      (await itemsOf(body.id)).some((item) => item.kind === 'webhook' && 'status' in item && item.status === 'done'),
    );
    const story = await itemsOf(body.id);
    expect([...new Set(story.map(({ kind }) => kind))].sort()).toEqual([
      'event',
      'move',
      'movement',
      'request',
      'webhook',
      'workflow',
    ]);
    const workflow = story.find(({ kind }) => kind === 'workflow')?.id ?? '';
    expect(workflow).toMatch(/^issuance:live:/);
    for (const name of [id, String(provider_ref), workflow]) expect([name, await itemsOf(name)]).toEqual([name, story]);
    const made = story.find(({ kind }) => kind === 'request')?.id ?? '';
    expect((await itemsOf(made)).map(({ kind }) => kind)).toContain('workflow');
    expect(await itemsOf(holder)).toEqual(expect.arrayContaining(story));
    for (const format of [[], ['--json']]) {
      const { stdout } = await cli.run('trace', holder, ...format);
      for (const secret of ['Zebulon', 'Koch', 'QX-774', '1990-02-28']) expect(stdout).not.toContain(secret);
    }
  });
});
