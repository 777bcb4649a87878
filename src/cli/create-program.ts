import { Argument, Command as Commander, InvalidArgumentError, Option } from 'commander';
import { BOOKS } from '../domain/books.js';
import type { Command, CommandInput, CommandOption, Flags } from './command.js';
import { COMMANDS } from './commands.js';
import { LOCAL_PROFILE } from './profile.js';

export interface ProgramIo {
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly version: string;
  readonly run: (command: Command, input: CommandInput, flags: Flags) => Promise<void>;
}

const LIMIT_DEFAULT = 20;

/** Commander's program of all commands. It throws `CommanderError` instead of ending the process. */
export function createProgram(io: ProgramIo): Commander {
  const program = new Commander('sverka');
  program
    .description('Sverka: moves money exactly once, and proves it')
    .version(io.version, '-V, --version', 'print the version')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: io.writeOut, writeErr: io.writeError, outputError: () => undefined })
    .showSuggestionAfterError();
  for (const option of commonOptions()) program.addOption(option);
  const nouns = new Map<string, Commander>();
  for (const command of COMMANDS) {
    const [noun, verb] = command.path;
    if (verb === undefined) addCommand(program, noun, { command, io });
    else addCommand(nounOf(program, nouns, noun), verb, { command, io });
  }
  return program;
}

/** Common to all commands (API.md 6). */
function commonOptions(): Option[] {
  return [
    new Option('--json', 'one JSON document on stdout; errors as a problem on stderr'),
    new Option('--profile <name>', 'which product to speak to').default(LOCAL_PROFILE),
    new Option('--book <book>', 'only this book').choices(BOOKS),
    new Option('--limit <count>', 'most rows, 1 to 100').argParser(parseLimit).default(LIMIT_DEFAULT),
    new Option('--cursor <cursor>', 'the next_cursor of the page before, with the same filters'),
    new Option('--yes', 'ask nothing; required without a terminal'),
    new Option('--dry-run', 'print what would happen and change nothing'),
    new Option('--reason <text>', 'why; kept where a person decides'),
  ];
}

const NOUNS: Readonly<Record<string, string>> = {
  merchants: 'who holds keys and wallets',
  keys: 'API keys of merchants, and the keys that seal identities',
  deposits: 'money that came in over a blockchain',
  issuances: 'what makes cards',
  withdrawals: 'money that leaves, by people alone',
  balances: 'what providers of balances hold, beside the books',
  products: 'kinds of cards, and what each costs',
  deadletters: 'notifications that wait for a person',
  alerts: 'what a person must see',
  breakers: 'which providers are spared',
  ledger: 'the journal of all movements',
  audit: 'who moved what, when and why',
  schedules: 'what runs by the clock',
  users: 'people with a login of their own',
};

function nounOf(program: Commander, nouns: Map<string, Commander>, name: string): Commander {
  const known = nouns.get(name);
  if (known) return known;
  const noun = program.command(name).description(NOUNS[name] ?? '');
  nouns.set(name, noun);
  return noun;
}

function addCommand(parent: Commander, name: string, { command, io }: { command: Command; io: ProgramIo }): void {
  const made = parent.command(name).description(command.summary);
  for (const { name: argument, description, choices } of command.args ?? []) {
    const declared = new Argument(argument, description);
    made.addArgument(choices ? declared.choices(choices) : declared);
  }
  for (const option of command.options ?? []) made.addOption(toOption(option));
  made.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  $ sverka ${line}`).join('\n')}`);
  made.action(async () => {
    const args = made.processedArgs as readonly (string | undefined)[];
    await io.run(command, { args, options: made.opts() }, toFlags(made.optsWithGlobals()));
  });
}

function toOption({ flags, description, choices, repeatable }: CommandOption): Option {
  const option = new Option(flags, repeatable ? `${description} (may be repeated)` : description);
  if (choices) option.choices(choices);
  if (repeatable) {
    option.argParser((value: string, before: readonly string[] | undefined) => {
      if (choices && !choices.includes(value)) {
        throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
      }
      return [...(before ?? []), value];
    });
  }
  return option;
}

function parseLimit(text: string): number {
  if (!/^([1-9][0-9]?|100)$/.test(text)) throw new InvalidArgumentError('Must be a whole number from 1 to 100.');
  return Number(text);
}

function toFlags(options: Record<string, unknown>): Flags {
  const book = BOOKS.find((each) => each === options['book']) ?? null;
  const text = (name: string) => (typeof options[name] === 'string' ? options[name] : null);
  return {
    json: options['json'] === true,
    profile: text('profile') ?? LOCAL_PROFILE,
    book,
    limit: typeof options['limit'] === 'number' ? options['limit'] : LIMIT_DEFAULT,
    cursor: text('cursor'),
    yes: options['yes'] === true,
    dryRun: options['dryRun'] === true,
    reason: text('reason'),
  };
}
