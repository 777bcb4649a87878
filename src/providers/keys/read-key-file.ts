import { readFileSync, statSync } from 'node:fs';
import type { z } from 'zod';
import { KeyError } from './key-provider.js';

/** Bits of a mode that let others than the owner read or write. */
const OTHERS = 0o077;

/** Reads and checks a file of keys. Its content is never part of an error. */
export function readKeyFile<Content extends { readonly current: string; readonly keys: readonly { id: string }[] }>(
  file: string,
  { schema, isSecret }: { schema: z.ZodType<Content>; isSecret: boolean },
): Content {
  const { text, mode } = readIfThere(file);
  if (isSecret && (mode & OTHERS) !== 0) {
    throw new KeyError('refused', `${file} may be read by others than its owner: chmod 600 ${file}`);
  }
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new KeyError('unreadable', `${file} is damaged or no file of keys: put back the copy that was kept of it.`);
  }
  if (!parsed.data.keys.some(({ id }) => id === parsed.data.current)) {
    throw new KeyError('unreadable', `${file} names ${parsed.data.current} as its current key and does not hold it.`);
  }
  return parsed.data;
}

function readIfThere(file: string): { text: string; mode: number } {
  try {
    return { mode: statSync(file).mode, text: readFileSync(file, 'utf8') };
  } catch (error) {
    const next = 'put it there, or correct the setting that names it';
    throw new KeyError('unreadable', `${file} cannot be read: ${next}.`, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The schema says what is wrong with it; the parser's own words would quote it.
    return undefined;
  }
}
