import { readFileSync } from 'node:fs';
import { COMMANDS } from '../../src/cli/commands.js';
import { type CommandLine, openCommandLine } from '../support/command-line.js';

let cli: CommandLine;

beforeAll(() => {
  cli = openCommandLine(null);
});
afterAll(() => cli.remove());

it('help ends with 0 and names every noun; of a verb it shows the common flags and examples', async () => {
  const [help, verb, version] = await Promise.all([
    cli.run('--help'),
    cli.run('keys', 'create', '--help'),
    cli.run('--version'),
  ]);
  expect([help.code, verb.code, version.code]).toEqual([0, 0, 0]);
  for (const { path } of COMMANDS) expect(help.stdout).toContain(`  ${path[0]} `);
  for (const flag of [
    '--read-only',
    '--json',
    '--profile',
    '--book',
    '--yes',
    '--dry-run',
    '--reason',
    '$ sverka keys',
  ])
    expect(verb.stdout).toContain(flag);
  expect(version.stdout).toBe(`${JSON.parse(readFileSync('package.json', 'utf8')).version}\n`);
});

it.each([
  ['nothing', []],
  ['a noun alone', ['deposits']],
  ['an unknown noun', ['withdrawals', 'approve', 'wd_1']],
  ['an unknown verb', ['deposits', 'approve']],
  ['an unknown flag', ['deposits', 'list', '--force']],
  ['too much', ['doctor', 'now']],
  ['too little', ['trace']],
  ['a book that is none', ['deposits', 'list', '--book', 'prod']],
  ['a limit that is none', ['deposits', 'list', '--limit', '1e1']],
  ['a shell that is none', ['completion', 'tcsh']],
])('%s is wrong usage: 2, nothing on stdout, and a problem with --json', async (_, args) => {
  const [plain, json] = await Promise.all([cli.run(...args), cli.problem(args, 2)]);
  expect([plain.code, plain.stdout]).toEqual([2, '']);
  expect(json).toMatchObject({ code: 'validation', type: '/problems/validation', retryable: false });
});

it('flags are taken before the noun as well as behind the verb', async () => {
  expect(await cli.problem(['--profile', 'nowhere', 'deposits', 'list'], 2)).toMatchObject({
    detail: expect.stringContaining('no profile nowhere'),
  });
});

it('no command requests, approves or completes a withdrawal', () => {
  const verbs = COMMANDS.filter(({ path }) => path[0] === 'withdrawals').map(({ path }) => path[1]);
  expect(verbs).toEqual(['list', 'show']);
});

it('the reference names every command, every option and every exit code', () => {
  const reference = readFileSync('docs/reference/cli.md', 'utf8');
  for (const { path, options = [] } of COMMANDS) {
    expect(reference).toContain(`sverka ${path.join(' ')}`);
    for (const { flags } of options) expect(reference).toContain(flags.split(' ')[0]);
  }
  for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(reference).toContain(`| ${code} |`);
});
