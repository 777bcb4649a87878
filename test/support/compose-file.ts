import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/**
 * The part of the compose file format that we use, strictly: a misspelt member is refused instead of ignored. No Docker
 * engine runs where this is developed, so this and the references below are what holds docker-compose.yml.
 */
const text = z.string().min(1);
const span = z.string().regex(/^[1-9][0-9]*(s|m)$/);
const serviceSchema = z.strictObject({
  image: text,
  build: z.strictObject({ context: text, dockerfile: text }).optional(),
  /** A service with one is started only when it is asked for. */
  profiles: z.array(text).optional(),
  entrypoint: z.array(text).optional(),
  command: z.array(text).optional(),
  environment: z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), text).optional(),
  volumes: z.array(text).optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:[0-9]+:[0-9]+$/, 'publishes beyond this machine')).optional(),
  tmpfs: z.array(text).optional(),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(text).optional(),
  security_opt: z.array(text).optional(),
  stop_signal: text.optional(),
  stop_grace_period: span.optional(),
  restart: z.enum(['no', 'unless-stopped']),
  healthcheck: z
    .strictObject({
      test: z.array(text).min(2),
      interval: span,
      timeout: span,
      retries: z.number().int().min(1),
      start_period: span.optional(),
    })
    .optional(),
  depends_on: z
    .record(text, z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .optional(),
  networks: z.array(text).min(1),
});
const fileSchema = z.strictObject({
  services: z.record(z.string().regex(/^[a-z][a-z0-9-]*$/), serviceSchema),
  volumes: z.record(text, z.strictObject({})),
  networks: z.record(text, z.strictObject({ internal: z.boolean().optional() })),
});

export type ComposeService = z.infer<typeof serviceSchema>;
export type ComposeFile = z.infer<typeof fileSchema>;

/** What is wrong with the repository's docker-compose.yml; nothing, when it may be used. */
export function composeFileProblems(root: string): string[] {
  return composeProblems(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), root);
}

/** The same for any text; files that it names are looked for below `root`. */
export function composeProblems(content: string, root: string): string[] {
  const parsed = fileSchema.safeParse(read(content));
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const file = parsed.data;
  return [
    ...Object.entries(file.services).flatMap(([name, service]) =>
      [
        ...imageProblems(service, root),
        ...dependencyProblems(service, file),
        ...referenceProblems(service, file),
        ...pathProblems(service, root),
        ...hostProblems(service, file),
      ].map((problem) => `services.${name}: ${problem}`),
    ),
    ...portProblems(file),
    ...unusedProblems(file),
    ...variableProblems(content),
  ];
}

/** The parsed file with `${NAME:?…}` replaced from `values`; throws where the schema refuses it. */
export function readCompose(content: string, values: Readonly<Record<string, string>>): ComposeFile {
  return fileSchema.parse(read(content.replaceAll(VARIABLE, (_, name: string) => values[name] ?? `\${${name}}`)));
}

/** Names of all variables that the file takes from outside. */
export function composeVariables(content: string): string[] {
  return [...new Set([...withoutComments(content).matchAll(VARIABLE)].map(([, name]) => name ?? ''))].toSorted();
}

const VARIABLE = /\$\{([A-Z_]+)(?::\?[^}]*)?\}/g;

/** Without the `x-…` members, which are only anchors. */
function read(content: string): unknown {
  const document = parse(content, { merge: true }) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(document).filter(([name]) => !name.startsWith('x-')));
}

function imageProblems({ image, build, healthcheck, restart }: ComposeService, root: string): string[] {
  const problems: string[] = [];
  if (build ? image !== 'sverka:local' : !/:v?[0-9]+\.[0-9]+(\.[0-9]+)?$/.test(image)) {
    problems.push(`image ${image} is not pinned to a version`);
  }
  if (build && !existsSync(join(root, build.context, build.dockerfile))) problems.push(`no ${build.dockerfile}`);
  if (build && restart !== 'no' && !healthcheck) problems.push('a process of ours without a health check');
  return problems;
}

function dependencyProblems(service: ComposeService, file: ComposeFile): string[] {
  return Object.entries(service.depends_on ?? {}).flatMap(([name, { condition }]) => {
    const on = file.services[name];
    if (!on) return [`depends on ${name}, which is no service`];
    if (condition === 'service_healthy' && !on.healthcheck) return [`waits until ${name} is healthy: it has no check`];
    if (condition === 'service_completed_successfully' && on.restart !== 'no') return [`waits for ${name} to end`];
    return dependsOnItself(name, file) ? [`depends on ${name}, which depends on itself`] : [];
  });
}

function dependsOnItself(name: string, file: ComposeFile): boolean {
  const seen = new Set<string>();
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const below of Object.keys(file.services[next]?.depends_on ?? {})) {
      if (below === name) return true;
      if (!seen.has(below)) open.push(below);
      seen.add(below);
    }
  }
  return false;
}

function referenceProblems({ networks, volumes = [] }: ComposeService, file: ComposeFile): string[] {
  const named = volumes.map((volume) => volume.split(':')[0] ?? '').filter((source) => !source.startsWith('.'));
  return [
    ...networks.filter((name) => !(name in file.networks)).map((name) => `network ${name} is not declared`),
    ...named.filter((name) => !(name in file.volumes)).map((name) => `volume ${name} is not declared`),
  ];
}

/** Files of ours: what is mounted, and what a container of our image runs. */
function pathProblems({ build, command = [], entrypoint = [], volumes = [] }: ComposeService, root: string): string[] {
  const mounts = volumes.map((volume) => volume.split(':')).filter(([source]) => source?.startsWith('.'));
  const run = build ? command.filter((word) => /\.(ts|mjs|js)$/.test(word)) : [];
  const mounted = entrypoint
    .filter((word) => word.endsWith('.sh'))
    .map((word) => {
      const mount = mounts.find(([, target]) => target && word.startsWith(`${target}/`));
      return mount ? word.replace(mount[1] ?? '', mount[0] ?? '') : word;
    });
  return [...mounts.map(([source]) => source ?? ''), ...run, ...mounted]
    .filter((path) => !existsSync(join(root, path)))
    .map((path) => `${path} is not there`);
}

/** Where a browser finds pages: the process itself calls nobody there. */
const SEEN_BY_BROWSERS = new Set(['SVERKA_CONSOLE_URL', 'SVERKA_CABINET_URL']);

/** Every host that an address in the environment names is a service of a network that both are in. */
function hostProblems({ environment = {}, networks }: ComposeService, file: ComposeFile): string[] {
  const called = Object.entries(environment).filter(([name]) => !SEEN_BY_BROWSERS.has(name));
  const hosts = called.flatMap(([, value]) => [
    ...[...value.matchAll(/(?:\/\/|@)([a-z][a-z0-9-]*)(?=[:/])(?![^@\s]*@)/g)].map(([, host]) => host ?? ''),
    ...(/^([a-z][a-z0-9-]*):[0-9]+$/.exec(value)?.slice(1) ?? []),
  ]);
  return [...new Set(hosts)].flatMap((host) => {
    const there = file.services[host];
    if (!there) return [`speaks to ${host}, which is no service`];
    return networks.some((name) => there.networks.includes(name)) ? [] : [`shares no network with ${host}`];
  });
}

function portProblems(file: ComposeFile): string[] {
  const published = Object.values(file.services).flatMap(({ ports = [] }) => ports.map((port) => port.split(':')[1]));
  return published
    .filter((port, at) => published.indexOf(port) !== at)
    .map((port) => `port ${port} is published twice`);
}

function unusedProblems(file: ComposeFile): string[] {
  const services = Object.values(file.services);
  const networks = services.flatMap((service) => service.networks);
  const volumes = services.flatMap((service) => (service.volumes ?? []).map((volume) => volume.split(':')[0]));
  return [
    ...Object.keys(file.networks).filter((name) => !networks.includes(name)),
    ...Object.keys(file.volumes).filter((name) => !volumes.includes(name)),
  ].map((name) => `${name} is declared and not used`);
}

/** A variable that is missing must stop the start with what to do: `${NAME:?…}`. */
function variableProblems(content: string): string[] {
  return [...withoutComments(content).matchAll(/\$\{[^}]*\}/g)]
    .map(([found]) => found)
    .filter((found) => !/^\$\{[A-Z_]+:\?[^}]+\}$/.test(found))
    .map((found) => `${found} would be empty in silence: write \${NAME:?what to do}`);
}

function withoutComments(content: string): string {
  return content.replaceAll(/^\s*#.*$/gm, '');
}
