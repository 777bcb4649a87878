import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Strangers, strangersOf } from '../support/canary-calls.js';
import { canaryMaker, findCanaries } from '../support/canary-cards.js';
import { lookEverywhere } from '../support/canary-look.js';
import { CODE, PERSON, placesOf, putEverywhere } from '../support/canary-places.js';
import { eventually, type ProductFolder, productFolder, type RunningProduct } from '../support/running-product.js';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

const WITHIN_MS = 300_000;
/** The codes, also where JSON stands within JSON, and the person. */
const WORDS: Readonly<Record<string, RegExp>> = {
  cvv: new RegExp(String.raw`cvv\\*":\\*"${CODE}`),
  cvc: new RegExp(String.raw`cvc\\*":\\*"${CODE}`),
  first_name: new RegExp(PERSON.first_name, 'i'),
  last_name: new RegExp(PERSON.last_name, 'i'),
  birth_date: new RegExp(PERSON.birth_date),
  document: new RegExp(PERSON.document, 'i'),
};
/** Numbers of the simulated issuer's cards. */
const ISSUED = /(?<![0-9])400000[0-9]{10}(?![0-9])/;

async function fund({ api, simulator }: Strangers): Promise<void> {
  const terms = { network: 'ethereum', asset: 'USDC-ETH', settlement: { mode: 'settled', asset: 'USD' } };
  const { body } = await api('POST', '/deposit-addresses', { body: terms });
  await simulator('custody', 'POST /deposits', { address: body['address'], amount: '900', status: 'completed' });
  await eventually('the wallet has money', async () => {
    const wallet = await api('GET', '/wallet');
    return JSON.stringify(wallet.body).includes('"900.00"');
  });
}

/** Every flow there is around a card, with an identity that must not be seen again. */
async function playCards({ api, simulator }: Strangers): Promise<void> {
  const settle = (path: string) =>
    eventually('the card is settled', async () => (await api('GET', path)).body['state'] === 'active');
  const fault = (match: object, kind: string) =>
    simulator('issuer', 'POST /faults', { match: { method: 'POST', ...match }, fault: kind, times: 1 });
  const holder = (await api('POST', '/cardholders', { body: { ...PERSON, reference: 'client-1' } })).body.id;
  await api('PATCH', `/cardholders/${holder}`, { body: { last_name: `${PERSON.last_name}b` } });
  const load = { amount: '10.00', asset: 'USD' };
  const wish = (product: string) => ({ cardholder_id: holder, product, load });
  const quick = await api('POST', '/cards', { body: wish('instant') });
  expect(quick.status).toBe(201);
  await settle((await api('POST', '/cards', { body: wish('async') })).location.slice(3));
  await fault({ path: '/v1/cards' }, 'lost_answer');
  await settle((await api('POST', '/cards', { body: wish('instant') })).location.slice(3));
  await fault({}, 'garbage');
  await api('POST', '/cards', { body: wish('instant'), headers: { prefer: 'wait=1' } });
  const refused = await api('POST', '/cardholders', { body: { ...PERSON, document: `DECLINE:${PERSON.document}` } });
  const declined = await api('POST', '/cards', { body: { ...wish('instant'), cardholder_id: refused.body.id } });
  expect(declined.status).toBe(402);
  await api('POST', `/cards/${quick.body.id}/loads`, { body: { amount: { amount: '5.00', asset: 'USD' } } });
  for (const change of ['freeze', 'unfreeze', 'close'])
    await api('POST', `/cards/${quick.body.id}/${change}`, { body: {} });
  await api('DELETE', `/cardholders/${refused.body.id}`);
}

/** Everything that is kept or was answered. */
async function look(at: { folder: ProductFolder; product: RunningProduct; strangers: Strangers }) {
  const texts = await lookEverywhere(at.folder, at.product);
  for (const [n, answer] of at.strangers.answers.entries()) texts.set(`answer ${n}`, answer);
  return texts;
}

function findWords(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].flatMap(([where, text]) =>
    Object.entries(WORDS)
      .filter(([, word]) => word.test(text))
      .map(([what]) => `${what} → ${where}`),
  );
}

async function withProduct(
  env: NodeJS.ProcessEnv,
  work: (folder: ProductFolder, product: RunningProduct) => Promise<void>,
) {
  const folder = productFolder();
  try {
    const product = await folder.start(['--no-story'], env);
    await work(folder, product);
    await product.stop();
  } finally {
    folder.remove();
  }
}

test(
  'card numbers, codes and identities that are put everywhere are found nowhere [CASES N01]',
  () =>
    withProduct({}, async (folder, product) => {
      const strangers = strangersOf(product);
      const canaries = canaryMaker();
      await fund(strangers);
      await playCards(strangers);
      const otherwise = await putEverywhere(placesOf(strangers), canaries);
      const texts = await look({ folder, product, strangers });
      expect({ otherwise, found: findCanaries(texts, canaries.made) }).toEqual({ otherwise: [], found: [] });
      expect(findWords(texts)).toEqual([]);
      expect([...texts].filter(([, text]) => ISSUED.test(text)).map(([where]) => where)).toEqual([]);
      // What was looked at is there: without it the look is void.
      const places = [...texts.keys()];
      const looked = ['table sverka.inbox', 'table sverka.cardholder_member', 'history issuance:', 'schedule '];
      for (const kind of [
        ...looked,
        'file /log/worker.jsonl',
        'file /log/gateway.jsonl',
        'file /log/relay.jsonl',
        'page ',
      ]) {
        expect([kind, places.some((place) => place.startsWith(kind))]).toEqual([kind, true]);
      }
    }),
  WITHIN_MS,
);

test(
  'with the redactor off the same look finds what was put at each place that needs it',
  () =>
    withProduct(
      { NODE_OPTIONS: `--import ${pathToFileURL(join(REPOSITORY_ROOT, 'test/support/redactor-off.mjs'))}` },
      async (folder, product) => {
        const strangers = strangersOf(product);
        const canaries = canaryMaker();
        const places = placesOf(strangers);
        await putEverywhere(places, canaries);
        // A person too, where no redactor is in the way.
        const reference = Object.values(PERSON).join(' ');
        await strangers.api('POST', '/cardholders', { body: { ...PERSON, reference } });
        const texts = await look({ folder, product, strangers });
        const found = findCanaries(texts, canaries.made);
        expect(new Set(findWords(texts).map((line) => line.split(' → ')[0]))).toEqual(new Set(Object.keys(WORDS)));
        const missed = places.filter(({ surface, needsRedactor }) => {
          return needsRedactor && !found.some((line) => line.startsWith(`${surface} → `));
        });
        expect(missed.map(({ surface }) => surface)).toEqual([]);
        for (const kind of ['table sverka.inbox', 'table sverka.request', 'history ', 'file /log/', 'answer ']) {
          expect([kind, found.some((line) => line.includes(` → ${kind}`))]).toEqual([kind, true]);
        }
      },
    ),
  WITHIN_MS,
);
