import type { FieldError, ProblemCode } from '../contracts/problems.js';
import { ConstraintViolation, DatabaseError, Refused, Retryable, Unavailable, UniqueViolation } from '../db/errors.js';
import { errorClass } from '../http/error-class.js';
import { Problem } from '../http/problem.js';
import { maskText } from '../telemetry/log-line.js';

/** What a command ends with (API.md 6). `found`: the check found something, or an unexpected failure. */
export const EXIT = {
  done: 0,
  found: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  needsDecision: 5,
  unavailable: 6,
  notPermitted: 7,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Why a command could not do its work, and the problem that says so with `--json`. */
const KINDS = {
  unexpected: { exit: EXIT.found, problem: 'internal' },
  usage: { exit: EXIT.usage, problem: 'validation' },
  notFound: { exit: EXIT.notFound, problem: 'not_found' },
  conflict: { exit: EXIT.conflict, problem: 'already_exists' },
  unavailable: { exit: EXIT.unavailable, problem: 'temporarily_unavailable' },
  notPermitted: { exit: EXIT.notPermitted, problem: 'permission' },
  interrupted: { exit: EXIT.interrupted, problem: 'temporarily_unavailable' },
} as const satisfies Record<string, { exit: ExitCode; problem: ProblemCode }>;
export type FailureKind = keyof typeof KINDS;

/** An error that is told as it stands: its message says what to do next. */
export class CliFailure extends Error {
  readonly exit: ExitCode;
  readonly problem: ProblemCode;
  readonly errors: readonly FieldError[];

  constructor(
    kind: FailureKind,
    message: string,
    options: { problem?: ProblemCode; errors?: readonly FieldError[]; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'CliFailure';
    this.exit = KINDS[kind].exit;
    this.problem = options.problem ?? KINDS[kind].problem;
    this.errors = options.errors ?? [];
  }
}

/**
 * The one translation of everything that may be thrown. What PostgreSQL, Temporal or a driver says is told as a class:
 * their words may hold hosts, users or values. What is not known is a bug: exit code 1.
 */
export function toFailure(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  if (error instanceof Problem)
    return new CliFailure('usage', error.detail, { problem: error.code, errors: error.errors });
  return databaseFailure(error) ?? payloadFailure(error) ?? temporalFailure(error) ?? unexpected(error);
}

function databaseFailure(error: unknown): CliFailure | null {
  const because = { cause: error };
  if (error instanceof Unavailable) {
    return new CliFailure('unavailable', `PostgreSQL does not answer (${errorClass(error)}). ${SEE_DOCTOR}`, because);
  }
  if (error instanceof Retryable) {
    const message = 'PostgreSQL was busy and did nothing (a lock or a time limit). Run the command again.';
    return new CliFailure('unavailable', message, because);
  }
  if (error instanceof Refused) {
    const message = 'The database role of this profile may not do this. Use the console role: `databaseUrl` of it.';
    return new CliFailure('notPermitted', message, because);
  }
  if (error instanceof UniqueViolation) {
    return new CliFailure('conflict', 'Something of this name exists already. List what is there first.', because);
  }
  if (error instanceof ConstraintViolation) {
    return new CliFailure('usage', 'The database refused a value: it is outside of what its column takes.', because);
  }
  if (error instanceof DatabaseError) return null;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^28/.test(code)) {
    const message = 'PostgreSQL refused the login of this profile. Correct user and password in its `databaseUrl`.';
    return new CliFailure('notPermitted', message, because);
  }
  if (['3D000', '3F000', '42P01', '42883', '42703'].includes(code)) {
    const message = `The database has not the schema of this version (${code}). Migrate it: \`npm start\` does.`;
    return new CliFailure('unavailable', message, because);
  }
  return null;
}

/** Told as it stands: it names keys and settings alone. By its name, for its module takes longer to load than most. */
function payloadFailure(error: unknown): CliFailure | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at.name !== 'PayloadNotOpened') continue;
    return new CliFailure('usage', `${at.message} A profile names that file by payloadKeysFile.`, { cause: error });
  }
  return null;
}

/** Numbers of gRPC's codes. */
const GRPC: Readonly<Record<number, { kind: FailureKind; says: string }>> = {
  3: { kind: 'usage', says: 'refused the request as not valid' },
  4: { kind: 'unavailable', says: 'did not answer in time' },
  5: { kind: 'notFound', says: 'does not know it' },
  7: { kind: 'notPermitted', says: 'does not permit this' },
  8: { kind: 'unavailable', says: 'has too much to do' },
  14: { kind: 'unavailable', says: 'does not answer' },
  16: { kind: 'notPermitted', says: 'does not know who asks' },
};

function temporalFailure(error: unknown): CliFailure | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const known = 'code' in at && typeof at.code === 'number' ? GRPC[at.code] : undefined;
    if (known) return new CliFailure(known.kind, `Temporal ${known.says}. ${SEE_DOCTOR}`, { cause: error });
  }
  return null;
}

function unexpected(error: unknown): CliFailure {
  const text = error instanceof Error ? error.message : String(error);
  return new CliFailure('unexpected', `Unexpected: ${maskText(text)}`, { cause: error });
}

const SEE_DOCTOR = 'Try again; `sverka doctor` names what is missing.';
