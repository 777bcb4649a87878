import type { Client, Connection } from '@temporalio/client';
import type pg from 'pg';
import type { Tx } from '../db/transaction.js';
import type { Book } from '../domain/books.js';
import type { ExitCode } from './failure.js';
import type { Output } from './output.js';
import type { Profile } from './profile.js';

/** The flags that every command takes; where one has no meaning it changes nothing. */
export interface Flags {
  readonly json: boolean;
  readonly profile: string;
  readonly book: Book | null;
  /** 1 to 100. */
  readonly limit: number;
  readonly cursor: string | null;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly reason: string | null;
}

export interface TemporalClient {
  readonly client: Client;
  readonly connection: Connection;
}

/** What a command works with. Connections are made when first asked for, and closed when it has ended. */
export interface Context {
  readonly flags: Flags;
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
  profile(): Profile;
  pool(): pg.Pool;
  /** Queries of their own, each its own commit. */
  db(): Tx;
  /** Throws `unavailable` when the server does not answer. */
  temporal(): Promise<TemporalClient>;
  /** True at once with `--yes`; asks on a terminal; throws `usage` where nobody can be asked. */
  confirm(question: string): Promise<boolean>;
  /** Lines of a result that has no end in sight: what makes them waits while their reader is slower. */
  stream(lines: AsyncIterable<string>): Promise<void>;
  /** A line to stderr, for a person: not part of the result. */
  note(text: string): void;
}

/** An option of one command, in commander's notation: `--state <state>`. */
export interface CommandOption {
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** May be given more than once, which means OR; the value is an array. */
  readonly repeatable?: boolean;
}

/** Values of arguments and options, by name in camelCase; absent ones are undefined. */
export interface CommandInput {
  readonly args: readonly (string | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Command {
  /** `deposits list`, or a single word. */
  readonly path: readonly [string] | readonly [string, string];
  readonly summary: string;
  /** In commander's notation: `<id>`, `[name]`. */
  readonly args?: readonly {
    readonly name: string;
    readonly description: string;
    readonly choices?: readonly string[];
  }[];
  readonly options?: readonly CommandOption[];
  /** Shown below its help. */
  readonly examples: readonly string[];
  run(context: Context, input: CommandInput): Promise<ExitCode>;
}

/** The option's text, or null when it was not given. */
export function textOption(input: CommandInput, name: string): string | null {
  const value = input.options[name];
  return typeof value === 'string' ? value : null;
}

/** The texts of a repeatable option; undefined when it was not given. */
export function textsOption(input: CommandInput, name: string): readonly string[] | undefined {
  const value = input.options[name];
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** A required argument: commander has refused the call without it. */
export function argument(input: CommandInput, place: number): string {
  const value = input.args[place];
  if (value === undefined) throw new Error(`Argument ${place} of a command is required but was not declared as that.`);
  return value;
}
