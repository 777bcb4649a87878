import { z } from 'zod';
import { errorClass } from '../../http/error-class.js';
import { type Finding, missing, ok, RESTART, warning } from './finding.js';

/** `/readyz` answers within 3 s (API.md 8). */
const TIMEOUT_MS = 4_000;

const readyzSchema = z.object({
  status: z.enum(['ok', 'degraded', 'failed']),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().nullable() })),
});

/** `/readyz` of each process: `degraded` is a warning, `failed` names the check that fails. */
export function checkReadiness(opsUrls: Readonly<Record<string, string>>): Promise<Finding[]> {
  return Promise.all(Object.entries(opsUrls).map(([name, url]) => checkReadyz(`ops:${name}`, url)));
}

/** The gateway answers where merchants find it; null is a profile that does not name it. */
export async function checkGateway(url: string | null): Promise<Finding[]> {
  if (url === null) return [];
  const answer = await ask(`${url}/openapi.json`);
  if (typeof answer === 'string') return [missing('gateway', `its address does not answer (${answer})`, FIX_GATEWAY)];
  if (answer.status !== 200) return [missing('gateway', `/openapi.json answers ${answer.status}`, FIX_GATEWAY)];
  return [ok('gateway', url)];
}

/** Each simulator listens; what it is told to do is its own affair. */
export function checkSimulators(simulators: Readonly<Record<string, { readonly url: string }>>): Promise<Finding[]> {
  return Promise.all(
    Object.entries(simulators).map(async ([name, { url }]) => {
      const answer = await ask(`${url}/_sim/faults`);
      if (typeof answer === 'string') return missing(`simulator:${name}`, `does not answer (${answer})`, RESTART);
      if (answer.status !== 200) return missing(`simulator:${name}`, `/_sim/faults answers ${answer.status}`, RESTART);
      return ok(`simulator:${name}`, url);
    }),
  );
}

const FIX_GATEWAY = 'See the log of the gateway (`logFiles` of run.json), then start it again.';

async function checkReadyz(name: string, url: string): Promise<Finding> {
  const answer = await ask(`${url}/readyz`);
  if (typeof answer === 'string') return missing(name, `/readyz does not answer (${answer})`, RESTART);
  const body = readyzSchema.safeParse(await answer.json().catch(() => null));
  if (!body.success) return missing(name, `/readyz answers ${answer.status} in another form`, RESTART);
  const { status, checks } = body.data;
  const failing = checks.filter((check) => !check.ok).map((check) => `${check.name} (${check.detail ?? 'failed'})`);
  const detail = failing.length === 0 ? status : `${status}: ${failing.join(', ')}`;
  if (answer.status === 200 && status === 'ok') return ok(name, detail);
  const fix = 'Mend what it names; it looks again by itself.';
  return status === 'failed' ? missing(name, detail, fix) : warning(name, detail, fix);
}

/** The answer, or the class of why there is none. */
async function ask(url: string): Promise<Response | string> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
  } catch (error) {
    return errorClass(error);
  }
}
