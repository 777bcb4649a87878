import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdsCardNumber } from '../../src/domain/card-numbers.js';
import { eventually, type ProductFolder, productFolder } from '../support/running-product.js';

// Both chapters, with a worker killed in between; the bound is only for a machine that does much else.
const WITHIN_MS = 480_000;
/** Where the simulated issuer's card numbers begin. */
const NUMBERS = /(?<![0-9])400000[0-9]{10}(?![0-9])/g;

let folder: ProductFolder;
beforeEach(() => {
  folder = productFolder();
});
afterEach(() => folder.remove());

/** The lines of one chapter of the printed table. */
function chapter(output: string, title: string): string[] {
  const [, ...lines] = output.slice(output.indexOf(`\n${title}\n`) + 1).split('\n');
  return lines.slice(0, lines.findIndex((line) => /expectations held$/.test(line)) + 1);
}

test(
  'every expectation of the story holds, and no card number lies in a log, in Temporal’s store or with a simulator',
  async () => {
    const product = await folder.start(['--once']);
    const ended = new Promise<number | null>((resolve) => product.process.once('close', resolve));
    await eventually('the start has ended', () => product.process.exitCode !== null, WITHIN_MS);
    expect([await ended, product.output()]).toEqual([0, expect.stringContaining('\nCards\n')]);
    for (const title of ['Deposits', 'Cards']) {
      const lines = chapter(product.output(), title);
      const [count, of] = /([0-9]+) of ([0-9]+) expectations held/.exec(lines.at(-1) ?? '')?.slice(1) ?? [];
      expect([title, count, lines.length - 1]).toEqual([title, of, Number(of)]);
      expect(Number(of)).toBeGreaterThan(15);
    }
    const cards = chapter(product.output(), 'Cards').join('\n');
    for (const scene of ['quick issuer', 'its webhook settles', 'reconciliation settles', 'found by our reference']) {
      expect(cards).toContain(scene);
    }
    for (const scene of ['waits for a person', 'declares it failed', 'turns up after all', 'declines', 'left on it']) {
      expect(cards).toContain(scene);
    }
    expect(written(folder.state).filter((text) => numbersIn(text).length > 0)).toEqual([]);
    // The look itself finds one.
    expect(numbersIn(`"pan":"400000${'0'.repeat(9)}2"`)).toHaveLength(1);
  },
  WITHIN_MS + 60_000,
);

/** What was written beside PostgreSQL. */
function written(state: string): string[] {
  const files = ['log', 'simulators'].flatMap((name) => {
    return readdirSync(join(state, name)).map((file) => join(state, name, file));
  });
  return [...files, join(state, 'temporal.db')].map((file) => readFileSync(file, 'latin1'));
}

function numbersIn(text: string): string[] {
  return (text.match(NUMBERS) ?? []).filter(holdsCardNumber);
}
