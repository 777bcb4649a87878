import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A real identity provider, in a process of its own. */
export interface TestIdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Goes where a browser was sent, as somebody of that name there; answers where it is sent back to. */
  visit(address: string, as: string | { abort: true }): Promise<URL>;
  stop(): Promise<void>;
}

const PROCESS = fileURLToPath(new URL('./identity-provider-process.mjs', import.meta.url));
const STEPS_MAX = 10;

export async function startIdentityProvider(redirectUris: readonly string[]): Promise<TestIdentityProvider> {
  const child = fork(PROCESS, redirectUris, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [], env: {} });
  const gone = once(child, 'exit');
  const [{ issuer }] = (await Promise.race([
    once(child, 'message'),
    gone.then(() => Promise.reject(new Error('The identity provider ended before it was ready.'))),
  ])) as [{ issuer: string }];
  return {
    ...{ issuer, clientId: 'sverka', clientSecret: 'a-secret-of-the-test-alone-0123456789' },
    visit: (address, as) => visit({ issuer, address, form: formOf(as) }),
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function formOf(as: string | { abort: true }): URLSearchParams {
  return new URLSearchParams(typeof as === 'string' ? { login: as } : { abort: 'yes' });
}

/** Follows the provider's own redirects and fills in its form, until it sends the browser elsewhere. */
async function visit(of: { issuer: string; address: string; form: URLSearchParams }): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = new URL(of.address);
  let form: URLSearchParams | null = null;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    if (at.origin !== of.issuer) return at;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, {
      redirect: 'manual',
      headers: { cookie },
      ...(form === null ? {} : { method: 'POST', body: form }),
    });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ''] = set.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      at = new URL(location, at);
      form = null;
    } else if (form === null && answer.status === 200) {
      form = of.form;
    } else {
      throw new Error(`The identity provider answered ${answer.status} at ${at.pathname}: ${await answer.text()}`);
    }
  }
  throw new Error('The identity provider leads in circles.');
}
