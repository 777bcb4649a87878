import { z } from 'zod';
import { type FieldError, isPlainName } from '../../contracts/problems.js';
import { assetCodeSchema } from '../../contracts/values.js';
import { validationProblem } from '../problem.js';
import { refusalWords } from './refusal-words.js';

/** A query parameter: a `filter` may be repeated, which means OR; a `single` may not. */
export interface Parameter<Value> {
  readonly schema: z.ZodType<Value, string>;
  readonly repeatable: boolean;
  readonly description: string;
  /** How OpenAPI shows it, where the schema of its text says too little. */
  readonly shown?: z.ZodType;
}
export interface Filter<Value> extends Parameter<Value> {
  readonly repeatable: true;
}
export interface Single<Value> extends Parameter<Value> {
  readonly repeatable: false;
}

export type Parameters = Readonly<Record<string, Filter<unknown> | Single<unknown>>>;
export type ValuesOf<P extends Parameters> = {
  [Name in keyof P]: P[Name] extends Filter<infer Value>
    ? Value[]
    : P[Name] extends Single<infer Value>
      ? Value | undefined
      : never;
};

export function filter<Value>(schema: z.ZodType<Value, string>, description: string): Filter<Value> {
  return { schema, description, repeatable: true };
}

export function single<Value>(schema: z.ZodType<Value, string>, description: string, shown?: z.ZodType): Single<Value> {
  return { schema, description, repeatable: false, ...(shown && { shown }) };
}

/** Repeatable filter by a listed asset. */
export const assetFilter = filter(assetCodeSchema, 'The asset.');

const timeSchema = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-29T10:15:30.123Z' })
  .refine(isWithinCalendar, 'must lie in the years 1 to 9999, in UTC');

/** The parameters that every list takes. */
export const PAGE_PARAMETERS = {
  limit: single(
    z
      .string()
      .regex(/^([1-9][0-9]?|100)$/, 'must be a whole number from 1 to 100')
      .transform(Number),
    'Most objects on one page.',
    z.int().min(1).max(100).default(20),
  ),
  cursor: single(z.string(), 'The `next_cursor` of the page before, with the same filters.'),
  created_from: single(timeSchema, 'Created at or after this time.'),
  created_to: single(timeSchema, 'Created before this time.'),
} as const;

/**
 * Reads a query string against what a route takes. Throws `validation` that points at each parameter that is not
 * known, repeated where it may not be, or outside its grammar.
 */
export function readParameters<P extends Parameters>(parameters: P, search: URLSearchParams): ValuesOf<P> {
  const errors: FieldError[] = [];
  const values: Record<string, unknown> = {};
  for (const name of new Set(search.keys())) {
    if (!Object.hasOwn(parameters, name)) errors.push({ pointer: pointerTo(name), detail: 'is not a parameter here' });
  }
  for (const [name, parameter] of Object.entries(parameters)) {
    const texts = search.getAll(name);
    const parsed = texts.map((text) => parameter.schema.safeParse(text, { error: refusalWords }));
    const refused = parsed.find((result) => !result.success);
    if (texts.length > 1 && !parameter.repeatable) errors.push({ pointer: `?${name}`, detail: 'must be given once' });
    else if (refused?.error)
      errors.push({ pointer: `?${name}`, detail: refused.error.issues[0]?.message ?? 'is refused' });
    const accepted = parsed.flatMap((result) => (result.success ? [result.data] : []));
    values[name] = parameter.repeatable ? accepted : accepted[0];
  }
  if (errors.length > 0) throw validationProblem(errors);
  return values as ValuesOf<P>;
}

function pointerTo(name: string): string {
  return isPlainName(name) ? `?${name}` : '?';
}

/** PostgreSQL has no year 0, and an offset may lead over the end of the calendar. */
function isWithinCalendar(text: string): boolean {
  const year = new Date(text).getUTCFullYear();
  return year >= 1 && year <= 9_999;
}
