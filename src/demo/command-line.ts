import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Json } from './http.js';

/** The command line, as an operator types it, with `--json`; throws when it does not end with 0. */
export async function commandLine(...words: readonly string[]): Promise<Json> {
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/sverka.mjs', ...words, '--json']);
  return new Json(JSON.parse(stdout));
}
