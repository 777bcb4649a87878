import type pg from 'pg';
import { createLoginLink, takeLoginLink } from '../../src/db/login-links.js';
import { createPool } from '../../src/db/pool.js';
import { openSession, readSession } from '../../src/db/sessions.js';
import { queriesOf } from '../../src/db/transaction.js';
import { makePerson } from '../support/decisions.js';
import { openTestPages, type TestPages } from '../support/pages.js';

let pages: TestPages;
let pool: pg.Pool;

beforeAll(async () => {
  pages = await openTestPages();
  pool = createPool(pages.database.urlFor('console'), { max: 1, applicationName: 'test' });
  await makePerson(pages.owner, 'olga');
  await pages.makeRequester('rita', 'Nordwind');
});
afterAll(async () => {
  await pool.end();
  await pages.close();
});

const link = async (login: string) => (await createLoginLink(pages.tx, login)) ?? '';
const tokenOf = (cookies: Map<string, string>) => cookies.get('__Host-sverka_console') ?? '';

it('looking at a link uses nothing up; its button signs in, once', async () => {
  const token = await link('olga');
  const browser = pages.browser('console');
  const shown = await browser.get(`/operator/sign-in?link=${token}`);
  expect([shown.status, shown.text.includes(token)]).toEqual([200, true]);
  expect((await browser.get(`/operator/sign-in?link=${token}`)).status).toBe(200);
  const opened = await browser.post('/operator/sign-in', { link: token });
  expect([opened.status, opened.headers.get('location')]).toEqual([303, '/operator']);
  expect(opened.headers.get('set-cookie')).toMatch(
    /^__Host-sverka_console=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
  );
  expect((await browser.get('/operator')).text).toContain('olga');
  const stranger = pages.browser('console');
  expect((await stranger.post('/operator/sign-in', { link: token })).status).toBe(422);
  expect((await stranger.get('/operator')).status).toBe(303);
});

it('a token that somebody planted is never that of the session, and an old session ends', async () => {
  const browser = pages.browser('console');
  browser.cookies.set('__Host-sverka_console', 'A'.repeat(43));
  await browser.signIn('olga');
  const first = tokenOf(browser.cookies);
  expect(first).not.toBe('A'.repeat(43));
  expect((await browser.get('/operator')).status).toBe(200);
  const again = await browser.get(`/operator/sign-in?link=${await link('olga')}`);
  expect(again.status).toBe(200);
  await browser.signIn('olga');
  expect(tokenOf(browser.cookies)).not.toBe(first);
  expect(await readSession(queriesOf(pool), { token: first, audience: 'console' })).toBeNull();
});

it('of two cookies of one name none counts', async () => {
  const browser = pages.browser('console');
  await browser.signIn('olga');
  const cookie = `__Host-sverka_console=${tokenOf(browser.cookies)}`;
  expect((await browser.get('/operator', { cookie })).status).toBe(200);
  expect((await browser.get('/operator', { cookie: `${cookie}; ${cookie}` })).status).toBe(303);
});

it.each([
  ['is idle', `idle_until = clock_timestamp()`],
  ['is too old', `ends_at = clock_timestamp()`],
  ['was revoked', `revoked_at = clock_timestamp()`],
])('a session that %s opens nothing, and leads to the sign-in', async (_, change) => {
  const browser = pages.browser('console');
  await browser.signIn('olga');
  expect((await browser.get('/operator')).status).toBe(200);
  await pages.owner.query(`update sverka.session set ${change} where revoked_at is null`);
  const answer = await browser.get('/operator/settings');
  expect(answer.text).not.toContain('olga');
  expect((await browser.get('/operator')).headers.get('location')).toBe('/operator/sign-in');
});

it('each audience lets in its own people alone, and a link of the other is not used up', async () => {
  const [ritas, olgas] = [await link('rita'), await link('olga')];
  expect((await pages.browser('console').post('/operator/sign-in', { link: ritas })).status).toBe(422);
  expect((await pages.browser('cabinet').post('/cabinet/sign-in', { link: olgas })).status).toBe(422);
  const cabinet = pages.browser('cabinet');
  expect((await cabinet.post('/cabinet/sign-in', { link: ritas })).status).toBe(303);
  expect((await cabinet.get('/cabinet')).text).toContain('Nordwind');
  expect(await takeLoginLink(pages.tx, olgas)).not.toBeNull();
  const stolen = cabinet.cookies.get('__Host-sverka_cabinet') ?? '';
  const console = pages.browser('console');
  console.cookies.set('__Host-sverka_console', stolen);
  expect((await console.get('/operator')).status).toBe(303);
});

it('the role of one audience cannot open or read a session of the other', async () => {
  const cabinet = createPool(pages.database.urlFor('cabinet'), { max: 1, applicationName: 'test' });
  try {
    const db = queriesOf(cabinet);
    const olgas = await link('olga');
    expect(await openSession(db, { link: olgas, audience: 'console' })).toBeNull();
    const opened = await openSession(queriesOf(pool), { link: olgas, audience: 'console' });
    expect(opened).not.toBeNull();
    expect(await readSession(db, { token: opened?.token ?? '', audience: 'console' })).toBeNull();
  } finally {
    await cabinet.end();
  }
});

it('a person who is disabled, or whose role changed, is met as that at the next request', async () => {
  await makePerson(pages.owner, 'mira', ['operator']);
  const browser = pages.browser('console');
  await browser.signIn('mira');
  expect((await browser.get('/operator')).text).toContain('operator');
  await pages.owner.query(`update sverka."user" set roles = array['auditor'] where login = 'mira'`);
  expect((await browser.get('/operator')).text).toContain('auditor');
  await pages.owner.query(`update sverka."user" set disabled_at = now() where login = 'mira'`);
  expect((await browser.get('/operator')).status).toBe(303);
});

it('signing out ends the session itself, not only the cookie', async () => {
  const browser = pages.browser('console');
  await browser.signIn('olga');
  const token = tokenOf(browser.cookies);
  await browser.get('/operator');
  expect((await browser.post('/operator/sign-out')).status).toBe(303);
  expect(browser.cookies.has('__Host-sverka_console')).toBe(false);
  browser.cookies.set('__Host-sverka_console', token);
  expect((await browser.get('/operator')).status).toBe(303);
});

it('the way on after a sign-in is a page of ours, never another site', async () => {
  for (const next of ['//evil.example', 'https://evil.example/operator', '/operator/../x', '/operator/sign-out', '']) {
    const browser = pages.browser('console');
    const opened = await browser.post('/operator/sign-in', { link: await link('olga'), next });
    expect([next, opened.headers.get('location')]).toEqual([next, '/operator']);
  }
  const browser = pages.browser('console');
  const opened = await browser.post('/operator/sign-in', { link: await link('olga'), next: '/operator/settings' });
  expect(opened.headers.get('location')).toBe('/operator/settings');
});

it('links open nothing where they are off', async () => {
  const closed = await openTestPages({ localLinks: false });
  try {
    await makePerson(closed.owner, 'olga');
    const answer = await closed.browser('console').signIn('olga');
    expect(answer.status).toBe(404);
  } finally {
    await closed.close();
  }
});

it('the eleventh attempt of one address in a minute is refused, whatever it brings', async () => {
  const browser = pages.browser('console');
  for (let n = 0; n < 10; n += 1) expect((await browser.post('/operator/sign-in', { link: 'x' })).status).toBe(422);
  expect((await browser.signIn('olga')).status).toBe(429);
  expect((await pages.browser('console').signIn('olga')).status).toBe(303);
});
