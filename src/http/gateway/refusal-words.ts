import type { z } from 'zod';

/** A list of allowed values is told while it can be read at one look. */
const VALUES_TOLD_MAX = 12;

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  object: 'must be an object',
  record: 'must be an object',
  array: 'must be a list',
  null: 'must be null',
};

/**
 * Why a member or parameter is refused, in the words of the contract: zod's own never reach a caller, and neither does
 * the refused value. Given to a parse as its `error`; what a schema says itself goes before it.
 */
export function refusalWords(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? 'must be of another type';
    case 'invalid_value':
      return oneOf(issue.values.map(String));
    case 'invalid_union':
      return ofUnion(issue);
    case 'too_big':
      return `must ${bound(issue.origin, `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`)}`;
    case 'too_small':
      return `must ${bound(issue.origin, `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`)}`;
    default:
      return 'has the wrong form';
  }
}

function oneOf(values: readonly string[]): string {
  if (values.length === 1) return `must be ${values[0]}`;
  if (values.length <= VALUES_TOLD_MAX) return `must be one of ${values.join(', ')}`;
  return 'must be one of the values that the API reference lists';
}

/** The member that tells the forms of an object apart has a value of none of them, or is not there. */
function ofUnion(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  const { input, discriminator, options } = issue;
  if (discriminator === undefined) return 'has none of the forms that the API reference lists';
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, discriminator)) return 'is missing';
  return Array.isArray(options) ? oneOf(options.map(String)) : 'must be one of the values that the API reference lists';
}

function bound(origin: string, limit: string): string {
  if (origin === 'string') return `have ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `have ${limit} items`;
  return `be ${limit}`;
}
