import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS } from '../../src/cli/commands.js';
import { completionScript, SHELLS } from '../../src/cli/completion-scripts.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sverka-completion-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What bash offers when TAB is pressed at the end of these words. */
function offered(...words: string[]): string[] {
  const file = join(folder, 'completion.bash');
  writeFileSync(file, completionScript('bash', COMMANDS));
  const line = ['sverka', ...words].map((word) => `'${word}'`).join(' ');
  const script = `source ${file}; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _sverka; echo "\${COMPREPLY[*]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['-euc', script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trim().split(' ').sort();
}

it('bash completes nouns, verbs, their options and the books', () => {
  expect(offered('dep')).toEqual(['deposits']);
  expect(offered('')).toEqual(expect.arrayContaining(['doctor', 'trace', 'merchants', 'keys', 'ledger', 'schedules']));
  expect(offered('keys', '')).toEqual(['create', 'list', 'revoke', 'rotate-encryption']);
  expect(offered('keys', 'create', '--re')).toEqual(['--read-only', '--reason']);
  expect(offered('keys', 'create', 'mer_1', '--read')).toEqual(['--read-only']);
  expect(offered('keys', 'list', '--read')).toEqual(['']);
  expect(offered('deposits', 'list', '--st')).toEqual(['--state']);
  expect(offered('deposits', 'list', '--book', '')).toEqual(['live', 'test']);
  expect(offered('completion', '')).toEqual([...SHELLS].sort());
  expect(offered('doctor', '--js')).toEqual(['--json']);
});

it.each(SHELLS)('the script for %s names every word, and its shell can read it', (shell) => {
  const script = completionScript(shell, COMMANDS);
  for (const { path, options = [] } of COMMANDS) {
    for (const word of path) expect(script).toContain(word);
    for (const { flags } of options) expect(script).toContain(flags.split(' ')[0]?.slice(2));
  }
  const file = join(folder, `completion.${shell}`);
  writeFileSync(file, script);
  const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
  // A shell that is not on this machine cannot be asked; bash is asked above.
  if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
