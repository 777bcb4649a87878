import { type FieldError, PROBLEMS, type ProblemBody, type ProblemCode, toInstance } from '../contracts/problems.js';

export interface ProblemOptions {
  /** For people. Never the refused value, a driver's words, or anything of another merchant. */
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that is answered to the caller as it stands. Anything else that is thrown is a bug: 500 `internal`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(code);
    this.name = 'Problem';
    this.code = code;
    this.detail = options.detail ?? PROBLEMS[code].meaning;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
  }
}

/** Refused fields as one problem: `validationProblem([{ pointer: '/amount', detail: 'must be …' }])`. */
export function validationProblem(errors: readonly FieldError[]): Problem {
  const detail = errors.length === 1 ? '1 field was refused.' : `${errors.length} fields were refused.`;
  return new Problem('validation', { detail, errors });
}

/** The nine members of a problem, in the order of the contract. `path` is without query. */
export function problemBody(
  problem: { code: ProblemCode; detail: string; errors?: readonly FieldError[] },
  at: { path: string; traceId: string },
): ProblemBody {
  const { status, title, retryable } = PROBLEMS[problem.code];
  return {
    type: `/problems/${problem.code}`,
    title,
    status,
    detail: problem.detail,
    instance: toInstance(at.path),
    code: problem.code,
    trace_id: at.traceId,
    retryable,
    errors: [...(problem.errors ?? [])],
  };
}

/** The answer to a problem, as `application/problem+json`. */
export function problemResponse(problem: Problem, at: { path: string; traceId: string }): Response {
  return new Response(JSON.stringify(problemBody(problem, at)), {
    status: PROBLEMS[problem.code].status,
    headers: { ...problem.headers, 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  });
}
