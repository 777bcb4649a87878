import type pg from 'pg';
import type { BalanceSyncInput } from '../../src/contracts/balance-messages.js';
import { createLoginLink } from '../../src/db/login-links.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf, type Tx } from '../../src/db/transaction.js';
import { createUser } from '../../src/db/users.js';
import { createCabinetApp } from '../../src/http/cabinet/app.js';
import { createConsoleApp } from '../../src/http/console/app.js';
import { type Listener, listen } from '../../src/http/listen.js';
import type { Audience } from '../../src/http/pages/call.js';
import type { IdentityProvider } from '../../src/http/pages/identity-provider.js';
import { createLog } from '../../src/telemetry/log.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { openTestDatabase, type TestDatabase } from './test-database.js';

/** What a page answered. */
export interface TestPage {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser without a screen: it keeps cookies, names its origin, and sends the token of its last page. */
export interface TestBrowser {
  readonly audience: Audience;
  /** The cookies it has, as `name=value`; a test may plant one. */
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<TestPage>;
  /** `csrf` is that of its session unless the form names one. */
  post(path: string, form?: Record<string, string> | FormData, headers?: Record<string, string>): Promise<TestPage>;
  signIn(login: string): Promise<TestPage>;
}

/** Console and cabinet over one database, each with its own role. */
export interface TestPages {
  readonly database: TestDatabase;
  readonly owner: pg.Pool;
  readonly tx: Tx;
  readonly logLines: string[];
  /** Whose balances the console has said to look at. */
  readonly nudged: readonly BalanceSyncInput[];
  browser(audience: Audience): TestBrowser;
  /** Lets a real browser in, at the origin of those pages. */
  serve(audience: Audience): Promise<Listener>;
  /** A merchant with a requester of that login; answers the merchant's id. */
  makeRequester(login: string, merchantName?: string): Promise<string>;
  close(): Promise<void>;
}

type Origins = Readonly<Record<Audience, string>>;
export const ORIGINS: Origins = {
  console: 'http://localhost:8083',
  cabinet: 'http://localhost:8084',
};
type Fetch = (request: Request, env: object) => Response | Promise<Response>;
/** Each browser calls from an address of its own. */
let browsers = 0;

export async function openTestPages(
  options: {
    localLinks?: boolean;
    identityProvider?: IdentityProvider;
    approvalPasskey?: boolean;
    origins?: Origins;
  } = {},
): Promise<TestPages> {
  const { origins = ORIGINS } = options;
  const database = await openTestDatabase();
  const owner = createPool(database.url, { max: 4, applicationName: 'test' });
  const logLines: string[] = [];
  const nudged: BalanceSyncInput[] = [];
  const pools = (['console', 'cabinet'] as const).map((role) =>
    createPool(database.urlFor(role), { max: 4, applicationName: `test-${role}` }),
  );
  const [consoleDeps, cabinetDeps] = pools.map((pool) => ({
    pool,
    db: queriesOf(pool),
    localLinks: options.localLinks ?? options.identityProvider === undefined,
    identityProvider: options.identityProvider ?? null,
    log: createLog({ process: 'pages', level: 'info', stream: { write: (line: string) => void logLines.push(line) } }),
    metrics: createMetrics(),
    stopping: () => false,
  }));
  if (!consoleDeps || !cabinetDeps) throw new Error('There are two pools.');
  const apps: Record<Audience, Fetch> = {
    console: createConsoleApp({
      ...consoleDeps,
      origin: origins.console,
      cabinetUrl: origins.cabinet,
      temporalUi: null,
      budgetMs: 3_600_000,
      approvalPasskey: options.approvalPasskey ?? false,
      nudge: {
        deposit: async () => undefined,
        issuance: async () => undefined,
        withdrawal: async () => undefined,
        balances: async (of) => void nudged.push(of),
      },
    }).fetch,
    cabinet: createCabinetApp({ ...cabinetDeps, origin: origins.cabinet, nudge: async () => undefined }).fetch,
  };
  const tx = queriesOf(owner);
  return {
    ...{ database, owner, tx, logLines, nudged },
    browser: (audience) => createBrowser({ audience, origin: origins[audience], fetch: apps[audience], tx }),
    serve: (audience) =>
      listen((request) => apps[audience](request, {}), {
        host: '127.0.0.1',
        port: Number(new URL(origins[audience]).port),
      }),
    async makeRequester(login, merchantName = 'A merchant') {
      const merchantId = newId('merchant');
      await owner.query('select sverka.create_merchant($1, $2)', [merchantId, merchantName]);
      await createUser(tx, { login, roles: ['requester'], merchantId });
      return merchantId;
    },
    async close() {
      await Promise.all([owner, ...pools].map((pool) => pool.end()));
      await database.close();
    },
  };
}

function createBrowser(of: { audience: Audience; origin: string; fetch: Fetch; tx: Tx }): TestBrowser {
  const { audience, tx } = of;
  const [origin, home] = [of.origin, audience === 'console' ? '/operator' : '/cabinet'];
  const cookies = new Map<string, string>();
  browsers += 1;
  const env = { incoming: { socket: { remoteAddress: `10.0.0.${browsers}` } } };
  let csrf = '';
  const send = async (request: Request): Promise<TestPage> => {
    const answer = await of.fetch(request, env);
    for (const set of answer.headers.getSetCookie()) keep(cookies, set);
    const text = await answer.text();
    csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? csrf;
    return { status: answer.status, headers: answer.headers, text };
  };
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const browser: TestBrowser = {
    audience,
    cookies,
    get: (path, headers = {}) => send(new Request(`${origin}${path}`, { headers: { cookie: cookie(), ...headers } })),
    post: (path, form = {}, headers = {}) =>
      send(
        new Request(`${origin}${path}`, {
          method: 'POST',
          body: form instanceof FormData ? withToken(form, csrf) : new URLSearchParams({ csrf, ...form }),
          headers: { cookie: cookie(), origin, 'sec-fetch-site': 'same-origin', ...headers },
        }),
      ),
    async signIn(login) {
      const link = await createLoginLink(tx, login);
      return browser.post(`${home}/sign-in`, { link: link ?? '' });
    },
  };
  return browser;
}

function withToken(form: FormData, csrf: string): FormData {
  form.append('csrf', csrf);
  return form;
}

function keep(cookies: Map<string, string>, set: string): void {
  const [pair = '', ...rest] = set.split(';');
  const at = pair.indexOf('=');
  if (rest.some((part) => /^\s*max-age=0$/i.test(part))) cookies.delete(pair.slice(0, at));
  else cookies.set(pair.slice(0, at), pair.slice(at + 1));
}
