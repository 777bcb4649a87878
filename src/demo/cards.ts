import { readFileSync } from 'node:fs';
import {
  type CardStage,
  card,
  centsOf,
  create,
  createCardStage,
  dollars,
  fault,
  issue,
  madeFor,
  mend,
  met,
  spendable,
  stands,
} from './card-stage.js';
import { commandLine } from './command-line.js';
import { until } from './http.js';
import type { Expect, StoryRun } from './story.js';

/** Whom the chapter's cards are for; the API never shows these words again. */
const IDENTITY = {
  first_name: 'Aurelia',
  last_name: 'Kestrelsson',
  birth_date: '1988-04-17',
  country: 'DE',
  document: 'L01X00T47',
} as const;

/** The longest that a caller may wait for what is certain. */
const PATIENT = 'wait=10';

/** Cards are made once, whatever becomes of the issuer's answers, and cost what they hold and a fee. */
export async function playCards(run: StoryRun, expect: Expect): Promise<void> {
  const stage = createCardStage(run, expect);
  await funded(stage);
  const before = await spendable(stage);
  const cardholder = await registered(stage);

  await quick(stage, cardholder);
  await settledByWebhook(stage, cardholder);
  await settledByReconciliation(stage, cardholder);
  await foundByReference(stage, cardholder);
  await decidedByPerson(stage, cardholder);
  await declined(stage);
  await loadedFrozenClosed(stage, cardholder);
  await balanced(stage, before);
  await unseen(stage);
}

/** Crypto becomes the dollars that cards are loaded from. */
async function funded(stage: CardStage): Promise<void> {
  const { custodian, expect } = stage;
  const before = await spendable(stage);
  const body = { network: 'ethereum', asset: 'USDC-ETH', settlement: { mode: 'settled', asset: 'USD' } };
  const address = (await create(stage, '/deposit-addresses', { body })).body.at('address').text;
  await custodian('/deposits', { method: 'POST', body: { address, amount: '500' } });
  const came = await until(async () => {
    const now = await spendable(stage);
    return now > before ? now - before : null;
  });
  expect('500 USDC come in and settle in dollars', '500.00', came === null ? null : dollars(came));
}

async function registered(stage: CardStage): Promise<string> {
  const { status, body } = await create(stage, '/cardholders', { body: IDENTITY });
  const shown = `${status} ${body.at('initials').text} ${body.at('country').text}`;
  stage.expect('a cardholder is registered once, sealed, and reused', '201 A. K. DE', shown);
  return body.at('id').text;
}

async function quick(stage: CardStage, cardholder: string): Promise<void> {
  const { expect } = stage;
  const key = crypto.randomUUID();
  const wish = { cardholder, load: '100.00', prefer: PATIENT, key };
  const { answer, id } = await issue(stage, wish);
  expect('a quick issuer answers at once', '201 active', `${answer.status} ${answer.body.at('state').text}`);
  const made = await card(stage, id);
  const costs = `${made.at('loaded', 'amount').text} and ${made.at('issuance', 'fee', 'amount').text}`;
  expect('… the card holds 100 USD and cost a fee', '100.00 and 1.00', costs);
  const again = await issue(stage, wish);
  const same = `${again.answer.body.at('id').text === id} ${await madeFor(stage, made.at('issuance', 'id').text)}`;
  expect('… and asking again with the same key makes no second one', 'true 1', same);
}

async function settledByWebhook(stage: CardStage, cardholder: string): Promise<void> {
  const { expect } = stage;
  const { answer, id } = await issue(stage, { cardholder, load: '20.00', product: 'async', prefer: 'respond-async' });
  expect('a slow issuer: accepted, and pending', '202 pending', `${answer.status} ${answer.body.at('state').text}`);
  expect('… its webhook settles', 'active active', await stands(stage, id, ['active']));
}

async function settledByReconciliation(stage: CardStage, cardholder: string): Promise<void> {
  const { expect } = stage;
  const lost = await fault(stage, { match: { event_type: 'card.issued' }, fault: 'drop' });
  const { id } = await issue(stage, { cardholder, load: '30.00', product: 'async', prefer: 'respond-async' });
  const gone = await met(stage, lost);
  const waits = gone ? await stands(stage, id, ['pending']) : 'no webhook was lost';
  expect('a slow one whose webhook is lost waits', 'pending pending', waits);
  await reconcile();
  expect('… and the reconciliation settles it', 'active active', await stands(stage, id, ['active']));
  expect('… changing nothing when it runs again', '0', await reconcile());
  await mend(stage, lost);
}

async function foundByReference(stage: CardStage, cardholder: string): Promise<void> {
  const { expect } = stage;
  // Without its webhook, too: nothing but the look by our reference is left.
  const silent = await fault(stage, { match: { event_type: 'card.issued' }, fault: 'drop' });
  const cut = await fault(stage, { match: { method: 'POST', path: '/v1/cards' }, fault: 'lost_answer', times: 1 });
  const { id } = await issue(stage, { cardholder, load: '40.00', prefer: 'wait=1' });
  const found = (await met(stage, cut)) ? await stands(stage, id, ['active']) : 'no answer was lost';
  expect('a lost answer: the card is found by our reference', 'active active', found);
  const reference = (await card(stage, id)).at('issuance', 'id').text;
  expect('… and was made once', '1', String(await madeFor(stage, reference)));
  for (const each of [silent, cut]) await mend(stage, each);
}

/** The issuer loses its answer and then does not show the card: only a person can say what is to be. */
async function decidedByPerson(stage: CardStage, cardholder: string): Promise<void> {
  const { expect, issuer } = stage;
  const before = await spendable(stage);
  const hidden = await fault(stage, { match: { method: 'GET', path: '/v1/cards' }, fault: 'not_found' });
  const cut = await fault(stage, { match: { method: 'POST', path: '/v1/cards' }, fault: 'lost_answer', times: 1 });
  const { id } = await issue(stage, { cardholder, load: '50.00', prefer: 'wait=1' });
  const lost = (await met(stage, cut)) ? await stands(stage, id, ['unknown']) : 'no answer was lost';
  expect('a lost answer, and the issuer shows no card: the money stays set aside', 'pending unknown', lost);
  const reference = (await card(stage, id)).at('issuance', 'id').text;
  const waiting = (await waitingFor(reference))?.at('choices').list.map(({ text }) => text);
  expect('… it waits for a person', 'link declare_failed issue_again', waiting?.join(' ') ?? null);
  const why = ['--reason', 'the issuer knows no such card', '--as', 'operator', '--yes'];
  await commandLine('issuances', 'decide', id, '--declare-failed', ...why);
  const back = `${await stands(stage, id, ['failed'])}, ${dollars(before - (await spendable(stage)))} gone`;
  expect('… an operator declares it failed, and the money is back', 'failed failed, 0.00 gone', back);
  for (const each of [hidden, cut]) await mend(stage, each);
  await reconcile();
  const late = `${await stands(stage, id, ['found_late'])}, ${dollars(before - (await spendable(stage)))} gone`;
  expect('… the card turns up after all, and moves no money', 'failed found_late, 0.00 gone', late);
  const there = (await commandLine('issuances', 'show', reference)).at('provider_ref').text;
  await issuer(`/cards/${there}`, { method: 'PATCH', body: { status: 'closed' } });
  const closed = await until(async () => ((await waitingFor(reference)) === null ? 'nobody' : null));
  expect('… closed at the issuer, it waits for', 'nobody', closed);
}

async function declined(stage: CardStage): Promise<void> {
  const { expect } = stage;
  const before = await spendable(stage);
  const body = { ...IDENTITY, document: 'DECLINE:do_not_honor' };
  const holder = (await create(stage, '/cardholders', { body })).body.at('id').text;
  const { answer, id } = await issue(stage, { cardholder: holder, load: '10.00', prefer: PATIENT });
  const said = `${answer.status} ${answer.body.at('code').text}`;
  expect('the issuer declines: refused, with where to look', '402 issuer_declined', said);
  const back = `${await stands(stage, id, ['failed'])}, ${dollars(before - (await spendable(stage)))} gone`;
  expect('… and the money is back', 'failed failed, 0.00 gone', back);
}

/** What a merchant does with a card that is there; closing it gives back what is left on it. */
async function loadedFrozenClosed(stage: CardStage, cardholder: string): Promise<void> {
  const { expect } = stage;
  const before = await spendable(stage);
  const { id } = await issue(stage, { cardholder, load: '10.00', prefer: PATIENT });
  const load = await create(stage, `/cards/${id}/loads`, {
    body: { amount: { amount: '5.00', asset: 'USD' } },
    prefer: PATIENT,
  });
  expect('a load of 5 USD is on the card', '201 completed', `${load.status} ${load.body.at('state').text}`);
  const frozen = await create(stage, `/cards/${id}/freeze`, { body: {}, prefer: PATIENT });
  const thawed = await create(stage, `/cards/${id}/unfreeze`, { body: {}, prefer: PATIENT });
  const said = [frozen, thawed].map(({ status, body }) => `${status} ${body.at('state').text}`).join(', ');
  expect('… frozen, and unfrozen again', '200 frozen, 200 active', said);
  const closed = await create(stage, `/cards/${id}/close`, { body: {}, prefer: PATIENT });
  const left = `${closed.status} ${(await card(stage, id)).at('loaded', 'amount').text} left`;
  expect('… closed, and nothing is left on it', '200 0.00 left', left);
  expect('… it has cost the fee, and no more', '1.00', dollars(before - (await spendable(stage))));
}

/** Their truth against ours, both ways, the wallet against the cards, and the books against their entries. */
async function balanced(stage: CardStage, before: bigint): Promise<void> {
  const { expect, issuer } = stage;
  const ours = [...stage.asked.values()].filter((each) => each.at('state').text === 'active');
  const references = [...stage.asked.values()].map((each) => each.at('issuance', 'id').text);
  const theirs = (await issuer('/truth')).body
    .at('objects', 'cards')
    .list.filter((each) => each.at('status').text === 'active' && references.includes(each.at('reference').text));
  const known = theirs.filter((each) =>
    ours.some((one) => one.at('issuance', 'id').text === each.at('reference').text),
  ).length;
  const all = `${ours.length} of ${ours.length}`;
  expect('every card there is one of ours, and all of ours are there', all, `${known} of ${theirs.length}`);
  const fees = [...stage.asked.values()].filter((each) => each.at('issuance', 'state').text === 'active');
  const spent = [
    ...ours.map((each) => each.at('issuance', 'load', 'amount').text),
    ...fees.map((each) => each.at('issuance', 'fee', 'amount').text),
  ].reduce((sum, amount) => sum + centsOf(amount), 0n);
  const gone = before - (await spendable(stage));
  expect('the wallet gave what they hold and cost, to the cent', dollars(spent), dollars(gone));
  const verified = await commandLine('ledger', 'verify', '--full');
  const findings = `${verified.at('findings').list.length} findings`;
  expect('the books, rebuilt from their entries, hold', '0 findings', findings);
}

/** The issuer's own answers held numbers, codes and the whole identity; nothing of ours does. */
async function unseen({ run, answers, issuer, expect }: CardStage): Promise<void> {
  const cards = (await issuer('/truth')).body.at('objects', 'cards').list;
  const numbers = cards.map((each) => each.at('pan').value).filter((pan) => typeof pan === 'string');
  expect('the issuer does answer with card numbers', 'yes', numbers.length > 0 ? 'yes' : 'no');
  const { first_name, last_name, birth_date, document } = IDENTITY;
  const secrets = [...numbers, first_name, last_name, birth_date, document];
  const logs = Object.values(run.logFiles).map((file) => readFileSync(file, 'utf8'));
  const seen = secrets.filter((secret) => [...answers, ...logs].some((text) => text.includes(secret)));
  const where = `${seen.length} in ${answers.length > 0 && logs.length > 0 ? 'answers and logs' : 'nothing read'}`;
  expect('numbers and identities that got into ours', '0 in answers and logs', where);
}

/** What waits for a person, as an operator sees it. */
async function waitingFor(issuanceId: string) {
  const { list } = (await commandLine('issuances', 'unknown', '--limit', '100')).at('data');
  return list.find((each) => each.at('id').text === issuanceId) ?? null;
}

/** Runs the hourly reconciliation now; answers how many issuances it changed. */
async function reconcile(): Promise<string> {
  return (await commandLine('schedules', 'run', 'issuance-reconcile:live:issuer', '--yes')).at('result', 'changed')
    .text;
}
