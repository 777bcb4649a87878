import { ORIGINS } from '../support/pages.js';
import { comeBack, expectNobody, openSignInWorld, type SignInWorld, sendAway } from '../support/sign-in-world.js';

let world: SignInWorld;
beforeAll(async () => {
  world = await openSignInWorld();
});
afterAll(() => world?.close());

/** Comes back, after a change to what the provider sent; answers the page. */
async function comeBackChanged(change: (address: URL) => void, of: { sent?: (address: URL) => void } = {}) {
  const browser = world.pages.browser('console');
  const sent = new URL(await sendAway(browser));
  of.sent?.(sent);
  const address = await world.there.visit(sent.href, 'sub-anna');
  change(address);
  const answer = await comeBack(browser, address);
  await expectNobody(browser);
  return answer.status;
}

it.each<[string, (address: URL) => void, number]>([
  ['with a forged state', ({ searchParams }) => searchParams.set('state', 'A'.repeat(43)), 400],
  ['without a state', ({ searchParams }) => searchParams.delete('state'), 400],
  ['with a forged code', ({ searchParams }) => searchParams.set('code', 'A'.repeat(43)), 403],
  ['without a code', ({ searchParams }) => searchParams.delete('code'), 403],
  ['from another issuer', ({ searchParams }) => searchParams.set('iss', 'https://other.example'), 403],
  ['from an issuer that does not name itself', ({ searchParams }) => searchParams.delete('iss'), 403],
])('what comes back %s is refused', async (_, change, status) => {
  expect(await comeBackChanged(change)).toBe(status);
});

it('what comes back with a token of another nonce is refused', async () => {
  const sent = ({ searchParams }: URL) => searchParams.set('nonce', 'another-nonce-of-somebody-else');
  expect(await comeBackChanged(() => undefined, { sent })).toBe(403);
});

it('what comes back with a code that another browser was given is refused', async () => {
  const stranger = world.pages.browser('console');
  const stolen = await world.there.visit(await sendAway(stranger), 'sub-anna');
  const inject = ({ searchParams }: URL) => searchParams.set('code', stolen.searchParams.get('code') ?? '');
  expect(await comeBackChanged(inject)).toBe(403);
});

it('what comes back twice is refused', async () => {
  const browser = world.pages.browser('console');
  const address = await world.there.visit(await sendAway(browser), 'sub-anna');
  const kept = new Map(browser.cookies);
  expect((await comeBack(browser, address)).status).toBe(303);
  const replay = world.pages.browser('console');
  for (const [name, value] of kept) replay.cookies.set(name, value);
  expect((await comeBack(replay, address)).status).toBe(400);
  await expectNobody(replay);
});

it('what comes back in another browser is refused, which signs nobody in as who began it', async () => {
  const [mine, victim] = [world.pages.browser('console'), world.pages.browser('console')];
  const address = await world.there.visit(await sendAway(mine), 'sub-anna');
  await sendAway(victim);
  expect((await comeBack(victim, address)).status).toBe(400);
  await expectNobody(victim);
  expect((await comeBack(mine, address)).status).toBe(303);
});

it('what comes back too late is refused', async () => {
  const browser = world.pages.browser('console');
  const address = await world.there.visit(await sendAway(browser), 'sub-anna');
  await world.pages.owner.query('update sverka.sign_in_attempt set expires_at = clock_timestamp()');
  expect((await comeBack(browser, address)).status).toBe(400);
  await expectNobody(browser);
});

it('what comes back at the other pages is refused', async () => {
  const [console, cabinet] = [world.pages.browser('console'), world.pages.browser('cabinet')];
  const address = await world.there.visit(await sendAway(console), 'sub-anna');
  const planted = console.cookies.get('__Host-sverka_console_sign_in') ?? '';
  cabinet.cookies.set('__Host-sverka_cabinet_sign_in', planted);
  const there = new URL(`${ORIGINS.cabinet}/cabinet/sign-in/callback${address.search}`);
  expect((await comeBack(cabinet, there)).status).toBe(400);
});

it('a person who gave up there is not signed in here', async () => {
  const browser = world.pages.browser('console');
  const address = await world.there.visit(await sendAway(browser), { abort: true });
  expect(address.searchParams.get('error')).toBe('access_denied');
  expect((await comeBack(browser, address)).status).toBe(403);
  await expectNobody(browser);
});
