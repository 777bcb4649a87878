import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse, stringify } from 'yaml';
import { loadCodecConfig, loadConfig } from '../../src/config.js';
import { PRODUCT_PROCESSES } from '../../src/local/product-children.js';
import { LOGIN_ROLES } from '../../src/local/role-passwords.js';
import { SEARCH_ATTRIBUTES } from '../../src/local/temporal.js';
import { composeFileProblems, composeProblems, composeVariables, readCompose } from '../support/compose-file.js';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
const content = read('docker-compose.yml');
const values = madeEnvironment();
const { services } = readCompose(content, values);
/** With encrypted payloads: what `-f docker-compose.yml -f deploy/encrypt-payloads.yml` makes of both. */
const encrypted = stringify(merged(parsed(content), parsed(read('deploy/encrypt-payloads.yml'))));

test('the file is sound: every member known, every reference to something that is there', () => {
  expect(composeFileProblems(REPOSITORY_ROOT)).toEqual([]);
});

test.each<[what: string, from: string, to: string, because: RegExp]>([
  ['a misspelt member', 'read_only: true', 'readonly: true', /Unrecognized key/],
  ['an image without a version', 'temporalio/ui:2.54.1', 'temporalio/ui:latest', /not pinned/],
  ['a dependency that is no service', 'temporal-schema: { condition', 'temporal-scheme: { condition', /is no service/],
  [
    'a wait for the end of what runs on',
    'migrate: { condition: service_comp',
    'postgres: { condition: service_comp',
    /to end/,
  ],
  ['a wait for health without a check', 'service_completed_successfully', 'service_healthy', /has no check/],
  ['a circle of dependencies', 'postgres: { condition', 'relay: { condition', /depends on itself/],
  ['a network that is not declared', 'networks: [data, edge]', 'networks: [data, egde]', /network egde/],
  ['a volume that is not declared', "['postgres-data:", "['postgresdata:", /volume postgresdata/],
  ['a volume that nothing uses', 'volumes:\n  postgres-data', 'volumes:\n  other: {}\n  postgres-data', /not used/],
  ['a file that is not there', 'src/relay.ts', 'src/relai.ts', /relai\.ts is not there/],
  ['a script that is not mounted', '/deploy/setup-schema.sh', '/deploy/set-up.sh', /set-up\.sh is not there/],
  ['a port that is published twice', '127.0.0.1:8081:8081', '127.0.0.1:8080:8081', /published twice/],
  ['a port for the world', '127.0.0.1:8081:8081', '8081:8081', /beyond this machine/],
  [
    'a host that is no service',
    '@postgres/sverka\n      SVERKA_GATEWAY',
    '@db/sverka\n      SVERKA_GATEWAY',
    /speaks to db/,
  ],
  ['a host in another network', 'networks: [data]\n\n  # Namespace', 'networks: [edge]\n\n  # Namespace', /no network/],
  ['a secret that may be empty', '${WORKER_PASSWORD:?run deploy/make-env.sh}', '${WORKER_PASSWORD:-}', /in silence/],
  ['a process without a health check', '    healthcheck: *ready\n', '', /without a health check/],
])('%s is refused', (_, from, to, because) => {
  expect(content).toContain(from);
  const problems = composeProblems(
    content.replace(from, () => to),
    REPOSITORY_ROOT,
  );
  expect(problems).toContainEqual(expect.stringMatching(because));
});

test('deploy/make-env.sh writes every variable, and no two the same; what exists stays', () => {
  expect(Object.keys(values).toSorted()).toEqual(composeVariables(encrypted));
  expect(new Set(Object.values(values)).size).toBe(Object.keys(values).length);
});

test.each(PRODUCT_PROCESSES)('the %s is a service, and its own configuration accepts what it is given', (name) => {
  const service = services[name];
  expect(service?.command?.at(-1)).toBe(`src/${name}.ts`);
  const environment = service?.environment ?? {};
  const { providers } = loadConfig(environment);
  const configured = providers.map(({ provider, account }) => `${provider} ${account}`);
  if (!['simulators', 'console', 'cabinet'].includes(name)) {
    expect(configured).toEqual([
      ...['custody main-live', 'custody main-test', 'issuer main-live', 'issuer main-test'],
      ...['pert pert-main', 'pert pert-test'],
    ]);
  }
  // What the configuration does not know it ignores: a misspelt setting would have its default.
  const known = read('src/config.ts');
  const isKnown = (key: string) =>
    known.includes(key) || /^SVERKA_(LIVE|TEST)_(CUSTODY|ISSUER|PERT)_(URL|API_KEY|WEBHOOK_SECRETS)$/.test(key);
  expect(Object.keys(environment).filter((key) => !isKnown(key))).toEqual([]);
});

test.each(['custody', 'issuer', 'pert'] as const)(
  'the simulated %s plays the accounts that the product has',
  (name) => {
    const played = JSON.parse(services['simulators']?.environment?.['SVERKA_SIMULATORS'] ?? '') as Record<
      typeof name,
      { port: number; accounts: { book: string; apiKey: string; hookUrl: string; webhookSecret: string }[] }
    >;
    const config = loadConfig(services['relay']?.environment ?? {});
    const providers = config.providers.filter(({ provider }) => provider === name);
    expect(played[name].accounts).toEqual(
      providers.map(({ book, account, apiKey, webhookSecrets }) => ({
        book,
        apiKey,
        hookUrl: `http://relay:${config.SVERKA_RELAY_PORT}/hooks/${name}/${account}`,
        webhookSecret: webhookSecrets[0],
      })),
    );
    expect(new Set(providers.map(({ url }) => url))).toEqual(new Set([`http://simulators:${played[name].port}`]));
  },
);

test('migrate gives a password to each role that a service logs in as', () => {
  const given = Object.keys(services['migrate']?.environment ?? {});
  for (const name of PRODUCT_PROCESSES) {
    expect(LOGIN_ROLES).toContain(name);
    expect(services[name]?.environment?.['DATABASE_URL']).toMatch(new RegExp(`^postgres://sverka_${name}:`));
    expect(given).toContain(`SVERKA_${name.toUpperCase()}_PASSWORD`);
  }
});

test('only the worker is given the private keys, and nothing else than the making of them may write there', () => {
  const mounts = Object.entries(services).flatMap(([name, { volumes = [] }]) =>
    volumes.map((volume) => [name, volume]),
  );
  expect(mounts.filter(([, volume]) => volume?.startsWith('private-keys:'))).toEqual([
    ['worker', 'private-keys:/var/lib/sverka-keys/private:ro'],
    ['keys', 'private-keys:/var/lib/sverka-keys/private'],
  ]);
  const named = Object.entries(services).filter(([, { environment = {} }]) => 'SVERKA_KEYRING_FILE' in environment);
  expect(named.map(([name]) => name)).toEqual(['worker', 'keys']);
});

const PAYLOAD_KEYS = 'payload-keys:/var/lib/sverka-payload-keys:ro';

test('with encrypted payloads each process that speaks to Temporal has the keys, and the UI finds the codec', () => {
  expect(composeProblems(encrypted, REPOSITORY_ROOT)).toEqual([]);
  const { services: all } = readCompose(encrypted, values);
  const codec = loadCodecConfig(all['codec']?.environment ?? {});
  const path = codec.SVERKA_PAYLOAD_KEYS_FILE;
  for (const name of ['worker', 'gateway', 'relay', 'console', 'cabinet', 'cli', 'codec']) {
    expect([name, all[name]?.environment?.['SVERKA_PAYLOAD_KEYS_FILE']]).toEqual([name, path]);
    expect([name, all[name]?.volumes]).toEqual([name, expect.arrayContaining([PAYLOAD_KEYS])]);
    expect(Object.keys(all[name]?.depends_on ?? {})).toContain('payload-keys');
  }
  expect(all['payload-keys']?.command?.at(-1)).toBe(path);
  const ui = all['temporal-ui'];
  expect(codec.SVERKA_CODEC_UI_ORIGIN).toBe(`http://127.0.0.1:${ui?.ports?.[0]?.split(':')[1]}`);
  const endpoint = `http://127.0.0.1:${all['codec']?.ports?.[0]?.split(':')[1]}/codec`;
  expect(ui?.environment).toMatchObject({
    TEMPORAL_CODEC_ENDPOINT: endpoint,
    TEMPORAL_CODEC_INCLUDE_CREDENTIALS: 'true',
    TEMPORAL_DISABLE_WRITE_ACTIONS: 'true',
  });
});

test('the search attributes that are made are those of the code', () => {
  const made = [...read('deploy/temporal/create-namespace.sh').matchAll(/^attribute (\w+) (\w+)$/gm)];
  expect(Object.fromEntries(made.map(([, name, type]) => [name, type]))).toEqual(SEARCH_ATTRIBUTES);
});

test('a process is given more time to stop than it allows itself', () => {
  const allowed = Number(/STOP_MS = ([0-9_]+)/.exec(read('src/run-process.ts'))?.[1]?.replaceAll('_', ''));
  for (const name of PRODUCT_PROCESSES) {
    expect(Number.parseInt(services[name]?.stop_grace_period ?? '', 10) * 1_000).toBeGreaterThan(allowed);
  }
});

test('the image is made of files that are there and that .dockerignore lets through', () => {
  const passed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, from]) => from?.split(' ') ?? [],
  );
  expect(copied.length).toBeGreaterThan(0);
  for (const path of copied) {
    expect(passed).toContain(path.replace('./', ''));
    expect(existsSync(join(REPOSITORY_ROOT, path))).toBe(true);
  }
});

function parsed(text: string): Record<string, unknown> {
  return parse(text, { merge: true });
}

/** As compose merges two files: maps by member, lists one behind the other, and else the second wins. */
function merged(one: unknown, two: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(two)) return [...one, ...two];
  if (!isMap(one) || !isMap(two)) return two;
  return { ...one, ...Object.fromEntries(Object.entries(two).map(([name, of]) => [name, merged(one[name], of)])) };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What deploy/make-env.sh writes; run twice, as a person would. */
function madeEnvironment(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-env-'));
  try {
    const file = join(folder, 'env');
    const make = () => execFileSync('sh', [join(REPOSITORY_ROOT, 'deploy/make-env.sh'), file], { stdio: 'pipe' });
    make();
    const made = readFileSync(file, 'utf8');
    make();
    expect(readFileSync(file, 'utf8')).toBe(made);
    // A file of an earlier version gets what is new, and keeps what it has.
    const [first, ...others] = made.split('\n').toSorted().filter(Boolean);
    writeFileSync(file, `${others.join('\n')}\n`);
    make();
    const completed = readFileSync(file, 'utf8').split('\n').toSorted().filter(Boolean);
    expect(completed.slice(1)).toEqual(others);
    expect(completed[0]?.split('=')[0]).toBe(first?.split('=')[0]);
    return parseEnv(made) as Record<string, string>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
