import { types } from 'node:util';

/** What the database, or the way to it, answered: every error of a query is one of these, or a bug. */
export class DatabaseError extends Error {
  /** Five characters of PostgreSQL's own, or null when no answer came. */
  readonly sqlstate: string | null;

  constructor(message: string, options: { cause: unknown; sqlstate?: string | null }) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.sqlstate = options.sqlstate ?? null;
  }
}

/** Nothing was written: a lock, a deadlock, a time limit or a key taken meanwhile. Run the transaction again. */
export class Retryable extends DatabaseError {}

/** PostgreSQL cannot be reached or cannot write, or no connection is free. Nothing is known to be committed. */
export class Unavailable extends DatabaseError {}

/** COMMIT was sent and its answer was lost: it may have happened. Ask by a unique key; running it again is safe. */
export class CommitUnknown extends DatabaseError {}

/** A unique key is there already. */
export class UniqueViolation extends DatabaseError {
  readonly constraint: string;

  constructor(message: string, options: { cause: unknown; sqlstate: string; constraint: string }) {
    super(message, options);
    this.constraint = options.constraint;
  }
}

/** A foreign key, CHECK or NOT NULL does not hold: the caller's rows are wrong. */
export class ConstraintViolation extends DatabaseError {}

/** The role may not do this, or what it touches is append-only (42501). Never retried. */
export class Refused extends DatabaseError {}

/** A value that PostgreSQL cannot take: not a number, out of range, arrays of different length (class 22). */
export class BadValue extends DatabaseError {}

const RETRYABLE = new Set(['55P03', '57014', '40P01', '40001']);
/** Shutting down, crashed, starting, too many connections, ended while idle in or by length of a transaction. */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25P03', '25P04']);
/** Out of disk, memory or a configured limit, or its files cannot be read: nothing was written, and it may pass. */
const EXHAUSTED = new Set(['53100', '53200', '53400', '58030']);
const SOCKET = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH'.split(' '),
);
/** What node-postgres says without a code: a connection that ended, none to be had in time, or no answer in time. */
const LOST = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Query read timeout',
  'connection error and is not queryable',
  'Client was closed',
  'after calling end on the pool',
];

/** True when the connection itself is gone or was never there: then no later answer on it can be believed. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== null) return SOCKET.has(code) || code.startsWith('08') || UNAVAILABLE.has(code);
  return isError(error) && LOST.some((words) => error.message.includes(words));
}

/** The one translation of SQLSTATE and driver errors. What it does not know is a bug and comes back as it was. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof DatabaseError || !isError(error)) return error;
  const sqlstate = codeOf(error);
  const options = { cause: error, sqlstate };
  if (isConnectionLoss(error)) return new Unavailable(`PostgreSQL is not available: ${error.message}`, options);
  if (sqlstate === null) return error;
  if (EXHAUSTED.has(sqlstate)) return new Unavailable(`PostgreSQL cannot write now: ${error.message}`, options);
  if (RETRYABLE.has(sqlstate)) return new Retryable(`Run this transaction again: ${error.message}`, options);
  if (sqlstate === '23505') {
    const constraint = 'constraint' in error ? String(error.constraint) : '';
    return new UniqueViolation(error.message, { cause: error, sqlstate, constraint });
  }
  if (sqlstate.startsWith('23')) return new ConstraintViolation(error.message, options);
  // `SV403`: a function of ours refuses that person, whatever the role may.
  if (sqlstate === '42501' || sqlstate === 'SV403') return new Refused(error.message, options);
  if (sqlstate.startsWith('22')) return new BadValue(error.message, options);
  return error;
}

function codeOf(error: unknown): string | null {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Also an error of another realm: a socket's, where modules run inside a `node:vm` context. */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}
