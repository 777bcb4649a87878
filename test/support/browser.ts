import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Debian's Chromium, which `.ci/run` installs; elsewhere set CHROMIUM_PATH. */
const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Why no browser test can run here, or null. In CI a missing browser is a failure, not a reason to skip. */
export function noBrowser(): string | null {
  if (existsSync(CHROMIUM)) return null;
  if (process.env['CI'] === 'true') throw new Error(`${CHROMIUM} is missing: .ci/run installs the package chromium.`);
  return `${CHROMIUM} is missing; install Chromium or set CHROMIUM_PATH`;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors of the console and refusals of the content security policy, as they come. */
  readonly complaints: string[];
}

export interface TestChromium {
  open(url: string): Promise<OpenPage>;
  /** The same with cookies of its own, and as a reader set the browser up. */
  openAs(url: string, reader: BrowserContextOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

export async function openBrowser(): Promise<TestChromium> {
  const browser: Browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
  return {
    open: async (url) => watched(await browser.newPage(), url),
    openAs: async (url, reader) => watched(await (await browser.newContext(reader)).newPage(), url),
    close: () => browser.close(),
  };
}

async function watched(page: Page, url: string): Promise<OpenPage> {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}
