import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { problemBody } from '../http/problem.js';
import { maskText } from '../telemetry/log-line.js';
import { newTraceId } from '../telemetry/trace.js';
import type { Command, CommandInput, Flags } from './command.js';
import { type CliProcess, createContext } from './create-context.js';
import { createProgram } from './create-program.js';
import { CliFailure, EXIT, type ExitCode, toFailure } from './failure.js';
import { clean } from './output.js';

/**
 * Runs one command and answers its exit code (API.md 6). Never throws: an error is told on stderr, with `--json` as a
 * problem. Ctrl-C ends the process with 130 at once; what was not committed by then did not happen.
 */
export async function runCli(io: CliProcess): Promise<ExitCode> {
  endWithReader(io.stdout);
  const interrupted = () => process.exit(EXIT.interrupted);
  process.once('SIGINT', interrupted);
  let code: ExitCode = EXIT.done;
  let path = 'sverka';
  try {
    const program = createProgram({
      writeOut: (text) => void io.stdout.write(text),
      // Help that nobody asked for: with `--json` the problem stands alone.
      writeError: (text) => void (wantsJson(io.args) || io.stderr.write(text)),
      version: productVersion(),
      run: async (command, input, flags) => {
        path = ['sverka', ...command.path].join(' ');
        code = await runCommand(io, command, { input, flags });
      },
    });
    await program.parseAsync([...io.args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return endOfParsing(io, error);
    return tell(io, toFailure(error), path);
  } finally {
    process.removeListener('SIGINT', interrupted);
  }
}

async function runCommand(
  io: CliProcess,
  command: Command,
  call: { input: CommandInput; flags: Flags },
): Promise<ExitCode> {
  const { context, close } = createContext(io, call.flags);
  try {
    return await command.run(context, call.input);
  } finally {
    await close();
  }
}

/** Help that was asked for is no error; all else that stops the parser is wrong usage. */
function endOfParsing(io: CliProcess, error: CommanderError): ExitCode {
  if (error.exitCode === 0) return EXIT.done;
  // The help of a noun without its verb has been written already.
  if (error.code === 'commander.help' && !wantsJson(io.args)) return EXIT.usage;
  const said =
    error.code === 'commander.help' ? 'A command is missing' : maskText(error.message.replace(/^error: /, ''));
  return tell(io, new CliFailure('usage', `${said.replace(/\.?$/, '.')} See \`sverka --help\`.`), 'sverka');
}

function tell(io: CliProcess, failure: CliFailure, path: string): ExitCode {
  const problem = { code: failure.problem, detail: failure.message, errors: failure.errors };
  if (wantsJson(io.args)) {
    const body = problemBody(problem, { path: `/${path.replaceAll(' ', '/')}`, traceId: newTraceId() });
    io.stderr.write(`${JSON.stringify(body)}\n`);
  } else {
    const fields = failure.errors.map(({ pointer, detail }) => `  ${pointer}: ${detail}\n`).join('');
    io.stderr.write(`sverka: ${clean(failure.message.replaceAll('\n', ' '))}\n${fields}`);
  }
  return failure.exit;
}

/** Asked of the words themselves: the parser may have stopped before it came to the flag. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).includes('--json');
}

/** `sverka … | head` closes our stdout while we write: nobody reads on, so there is nothing left to do. */
function endWithReader(stdout: NodeJS.WriteStream): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT.done);
  });
}

function productVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
