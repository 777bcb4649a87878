import { statSync } from 'node:fs';
import { isRunning } from '../../local/process-info.js';
import type { RunFile } from '../../local/run-file.js';
import type { Profile } from '../profile.js';
import { type Finding, missing, ok, RESTART, warning } from './finding.js';

/** As `engines` in package.json. */
const NODE_MIN = [20, 19] as const;
/** DESIGN 7; the relay refuses to start with a shorter one. */
const SECRET_CHARACTERS_MIN = 32;

/** `version` as in `process.versions.node`. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  if (enough) return ok('node', version);
  return missing('node', `${version} is too old`, `Install Node.js ${NODE_MIN.join('.')} or newer.`);
}

/** The file that the profile came from: whole, and for this user alone, for it holds passwords. */
export function checkProfileFile(profile: Profile): Finding {
  const name = profile.run === null ? 'profile' : 'run.json';
  // Bits of group and others.
  if (process.platform !== 'win32' && (statSync(profile.file).mode & 0o077) !== 0) {
    return missing(name, 'others on this machine can read the passwords in it', `chmod 600 ${profile.file}`);
  }
  if (profile.run !== null && isLeftBehind(profile.run)) {
    return missing(name, 'the start that wrote it is gone', NOTHING_LEFT);
  }
  if (profile.run !== null && profile.run.ready !== true) {
    return missing(name, 'the start is not complete', 'Wait for it; if nothing runs any more, `npm start` again.');
  }
  return ok(name, profile.run === null ? profile.name : `ready, started ${profile.run.startedAt ?? 'at no time'}`);
}

const NOTHING_LEFT = 'Nobody starts anything of this run again: `npm start`.';

/** Whoever keeps the others running is gone: a child that is not there stays away. */
function isLeftBehind({ pids = {} }: Partial<RunFile>): boolean {
  return pids['self'] !== undefined && !isRunning(pids['self']);
}

/** Every process that the run file names. */
export function checkProcesses(run: Partial<RunFile>): Finding[] {
  const { pids = {} } = run;
  if (Object.keys(pids).length === 0) return [missing('process', 'run.json names no process', RESTART)];
  return Object.entries(pids).map(([name, pid]) => {
    if (isRunning(pid)) return ok(`process:${name}`, `process ${pid}`);
    const fix = isLeftBehind(run) ? NOTHING_LEFT : `It is started again in seconds; else: ${RESTART}`;
    return missing(`process:${name}`, `process ${pid} is gone`, fix);
  });
}

/** Length of each endpoint's webhook secrets; they themselves are never shown. */
export function checkSecrets({ hooks = [] }: Partial<RunFile>): Finding[] {
  return hooks.map(({ provider, endpoint, book, secrets }) => {
    const name = `secrets:${provider}/${endpoint}`;
    const variable = `SVERKA_${book.toUpperCase()}_${provider.toUpperCase()}_WEBHOOK_SECRETS`;
    if (secrets.length === 0) return missing(name, `no secret for ${provider}`, `Set ${variable} and start again.`);
    if (secrets.some((secret) => secret.length < SECRET_CHARACTERS_MIN)) {
      const detail = `a secret is shorter than ${SECRET_CHARACTERS_MIN} characters`;
      return missing(name, detail, `Set longer ones in ${variable} and start again.`);
    }
    return ok(name, `${secrets.length} for ${provider}, each of ${SECRET_CHARACTERS_MIN} characters or more`);
  });
}

/** A process that runs and has no ops listener in the file is not ready. */
export function checkOpsNamed({ pids = {}, opsUrls = {} }: Partial<RunFile>): Finding[] {
  const ours = Object.keys(pids).filter((name) => !['self', 'guard', 'postgres', 'temporal'].includes(name));
  return ours
    .filter((name) => opsUrls[name] === undefined)
    .map((name) =>
      warning(`ops:${name}`, 'not ready yet: run.json names no ops listener', 'Wait a moment, then look again.'),
    );
}
