import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCli } from '../../src/cli/run-cli.js';
import type { RunFile } from '../../src/local/run-file.js';
import { REPOSITORY_ROOT } from './tree-files.js';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line, in front of a run file in a folder of its own. */
export interface CommandLine {
  readonly state: string;
  /** Runs one command in this process: the same code, without two seconds of start for each. */
  run(...args: string[]): Promise<Ended>;
  /** The same as a process of its own, while it runs: for signals, pipes and the start itself. */
  start(...args: string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> };
  /** The document that `--json` writes; throws with the output when the exit code is not `code` (default 0). */
  json(args: readonly string[], code?: number): Promise<Record<string, unknown>>;
  /** The problem that `--json` writes to stderr; stdout must be empty. */
  problem(args: readonly string[], code: number): Promise<Record<string, unknown>>;
  /** Replaces the run file; null removes it. */
  setRun(run: Partial<RunFile> | null): void;
  remove(): void;
}

/** `env` is added to an environment that holds nothing of ours. */
export function openCommandLine(run: Partial<RunFile> | null, env: Record<string, string> = {}): CommandLine {
  const state = mkdtempSync(join(tmpdir(), 'sverka-cli-'));
  const file = join(state, 'run.json');
  const environment = { PATH: process.env['PATH'] ?? '', ...env, HOME: state, SVERKA_STATE_DIR: state };
  const command = (args: readonly string[]) => runHere(args, environment);
  const commandLine: CommandLine = {
    state,
    run: (...args) => command(args),
    start: (...args) => startCli(args, environment),
    async json(args, code = 0) {
      const ended = await command([...args, '--json']);
      if (ended.code !== code) throw new Error(`${args.join(' ')} ended with ${ended.code}:\n${ended.stderr}`);
      return JSON.parse(ended.stdout) as Record<string, unknown>;
    },
    async problem(args, code) {
      const ended = await command([...args, '--json']);
      expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code, stdout: '' });
      return JSON.parse(ended.stderr) as Record<string, unknown>;
    },
    setRun(content) {
      rmSync(file, { force: true });
      if (content === null) return;
      writeFileSync(file, JSON.stringify(content));
      chmodSync(file, 0o600);
    },
    remove: () => rmSync(state, { recursive: true, force: true }),
  };
  commandLine.setRun(run);
  return commandLine;
}

/** What `run.json` says of a database, and nothing else. */
export function runWithConsole(consoleUrl: string): Partial<RunFile> {
  // Only the console's URL: a command that reached for another one would fail.
  return { version: 1, ready: true, databaseUrls: { console: consoleUrl } as RunFile['databaseUrls'] };
}

async function runHere(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end();
  const written = Promise.all([text(stdout), text(stderr)]);
  // No terminal, like the pipes of a child.
  const code = await runCli({ args, env, stdin, stdout, stderr } as unknown as Parameters<typeof runCli>[0]);
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

function startCli(args: readonly string[], env: Record<string, string>): ReturnType<CommandLine['start']> {
  const child = spawn(process.execPath, ['bin/sverka.mjs', ...args], {
    cwd: REPOSITORY_ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
  return { child, ended };
}
