import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const REPOSITORY_ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Where a file that is not committed yet counts too; elsewhere it may be somebody's scratch paper. */
const FOLDERS = ['.ci', 'bench', 'bin', 'deploy', 'docs', 'migrations', 'scripts', 'src', 'test'];

/** Every file of the tree that git knows or would take, relative to the repository, in order. */
export function treeFiles(): string[] {
  const listed = (...args: string[]) =>
    execFileSync('git', ['ls-files', '-z', ...args], { cwd: REPOSITORY_ROOT, encoding: 'utf8' }).split('\0');
  const files = [...listed(), ...listed('--others', '--exclude-standard', '--', ...FOLDERS)];
  return [...new Set(files)].filter((path) => path !== '' && existsSync(`${REPOSITORY_ROOT}${path}`)).sort();
}
