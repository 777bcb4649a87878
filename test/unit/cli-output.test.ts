import { createOutput, utc } from '../../src/cli/output.js';

function written(stream: { isTTY: boolean }, env: Record<string, string>, json = false) {
  const lines: string[] = [];
  const out = createOutput({ ...stream, write: (text) => lines.push(text) }, { json, env });
  return { out, text: () => lines.join('') };
}

const COLUMNS = [{ title: 'NAME' }, { title: 'AMOUNT', align: 'right' as const }];

it('a table has its amounts on the right, and no space at the end of a line', () => {
  const { out, text } = written({ isTTY: false }, {});
  out.table(COLUMNS, [
    ['Nordwind', '-1.00'],
    ['Süd', '1000.00'],
  ]);
  expect(text()).toBe('NAME       AMOUNT\nNordwind    -1.00\nSüd       1000.00\n');
});

it('an empty table says that there is nothing', () => {
  const { out, text } = written({ isTTY: false }, {});
  out.table(COLUMNS, []);
  expect(text()).toBe('Nothing.\n');
});

it('colours appear on a terminal alone, and never with NO_COLOR or on a dumb one', () => {
  const coloured = (isTTY: boolean, env: Record<string, string>) => {
    const { out, text } = written({ isTTY }, env);
    out.table(COLUMNS, [[{ text: 'parked', mark: out.mark.bad }, '1']]);
    return text().includes('\u001b[31m');
  };
  expect(coloured(true, { TERM: 'xterm' })).toBe(true);
  expect(coloured(false, { TERM: 'xterm', FORCE_COLOR: '1' })).toBe(false);
  expect(coloured(true, { TERM: 'xterm', NO_COLOR: '1' })).toBe(false);
  expect(coloured(true, { TERM: 'dumb' })).toBe(false);
});

it('what others wrote cannot colour, move or turn the text, in a table and among facts', () => {
  const { out, text } = written({ isTTY: true }, {});
  const hostile = '\u001b[2J\u009b31m\rname\u202egnp\u2066.';
  out.table(COLUMNS, [[hostile, { text: hostile, mark: (inner) => inner }]]);
  out.facts([['name', hostile]]);
  const own = text().replaceAll(/\u001b\[(?:1|2|22)m/g, '');
  expect(own).not.toMatch(/[\u001b\u009b\r\u202e\u2066]/);
  expect(own.split('\u{fffd}[2J')).toHaveLength(4);
});

it('with --json the document stands alone, as one', () => {
  const { out, text } = written({ isTTY: true }, {}, true);
  out.result({ object: 'thing', name: '\u001b[2J' }, () => out.line('for a person'));
  expect(JSON.parse(text())).toEqual({ object: 'thing', name: '\u001b[2J' });
  expect(text()).not.toContain('\u001b');
});

it('times are shown in UTC with their milliseconds', () => {
  expect(utc(new Date(Date.UTC(2026, 10, 29, 10, 15, 30, 7)))).toBe('2026-11-29 10:15:30.007');
  expect(utc(null)).toBe('–');
});
