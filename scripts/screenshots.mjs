// Takes the pictures of docs/assets: plays the story, signs in by the one-time links of the run, and looks at the main
// pages with Debian's Chromium. Run it by hand: `node scripts/screenshots.mjs`.
import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(root, 'docs/assets');
const { eventually, productFolder } = await tsImport('../test/support/running-product.ts', import.meta.url);
const { openBrowser } = await tsImport('../test/support/browser.ts', import.meta.url);

const PICTURES = [
  ['requester', '/cabinet', 'cabinet-wallet'],
  ['requester', '/cabinet/withdrawals/new', 'cabinet-request'],
  ['approver', '/operator', 'operator-home'],
  ['approver', '/operator/withdrawals', 'operator-withdrawals'],
  ['approver', 'first withdrawal', 'operator-withdrawal'],
  ['approver', '/operator/issuances', 'operator-issuances'],
];

/** Of the story, each with such a line at its end. */
const CHAPTERS = 4;
const STORY_MS = 300_000;

mkdirSync(folder, { recursive: true });
const product = productFolder();
const running = await product.start([]);
await eventually('the story is over', () => running.output().split('expectations held').length > CHAPTERS, STORY_MS);
const browser = await openBrowser();
try {
  const pages = new Map();
  for (const [login, path, name] of PICTURES) {
    const page = pages.get(login) ?? (await signIn(login));
    pages.set(login, page);
    if (path.startsWith('/')) await page.goto(new URL(path, page.url()).href);
    else await page.click('tbody a[href^="/operator/withdrawals/wd_"]');
    await page.screenshot({ path: `${folder}/${name}.png` });
    // So that something waits for the approver.
    if (name === 'cabinet-request') await request(page);
    process.stdout.write(`docs/assets/${name}.png\n`);
  }
} finally {
  await browser.close();
  await running.stop();
  product.remove();
}

async function request(page) {
  await page.check('input[name=target]');
  await page.fill('#amount', '3');
  await page.click('main form button[type=submit]');
  await page.waitForURL(/withdrawals\/wd_/);
}

async function signIn(login) {
  const { linkFile } = running.run().logins.find(({ user }) => user === login);
  const link = readFileSync(resolve(root, linkFile), 'utf8').trim();
  const { page } = await browser.openAs(link, { viewport: { width: 1280, height: 860 }, colorScheme: 'light' });
  await page.click('main button[type=submit]');
  return page;
}
