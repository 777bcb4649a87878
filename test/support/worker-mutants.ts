import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { localPaths, REPOSITORY } from '../../src/local/paths.js';

/** What a mutant has in place of the real text; the text must stand in the file exactly once. */
export interface Mutation {
  /** Below `src/workflows`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface MutantBundle {
  readonly path: string;
  readonly code: string;
  remove(): void;
}

/** The layers that workflow code is made of, and those of which it sees types. */
const LAYERS = ['workflows', 'domain', 'contracts', 'activities'];

/**
 * Bundles a copy of the real workflows with small changes: a negative control that can never drift from what it is a
 * mutant of. Throws when a text is no longer there.
 */
export async function bundleMutant(mutations: readonly Mutation[]): Promise<MutantBundle> {
  // Inside the repository, so that packages are found.
  const parent = join(localPaths(process.env).state, 'mutants');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, `${process.pid}-`));
  for (const layer of LAYERS) cpSync(join(REPOSITORY, 'src', layer), join(folder, layer), { recursive: true });
  for (const mutation of mutations) mutate(join(folder, 'workflows', mutation.file), mutation);
  const workflowsPath = join(folder, 'workflows', 'index.ts');
  const failureConverterPath = join(folder, 'workflows', 'failure-converter.cjs');
  const logger = new DefaultLogger('ERROR');
  const { code } = await bundleWorkflowCode({ workflowsPath, failureConverterPath, logger });
  const path = join(folder, 'bundle.js');
  writeFileSync(path, code);
  return { path, code, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The real workflows whose activities are found dead after two seconds, so that a kill is repaired quickly. */
export function bundleImpatient(): Promise<MutantBundle> {
  const file = 'options.ts';
  return bundleMutant([
    { file, from: "startToCloseTimeout: '10s'", to: "startToCloseTimeout: '2500ms'" },
    { file, from: "providerRead: {\n    startToCloseTimeout: '30s',\n    heartbeatTimeout: '5s',", to: PROVIDER_READ },
    { file, from: "providerCreate: { startToCloseTimeout: '30s', heartbeatTimeout: '5s'", to: PROVIDER_CREATE },
    { file, from: "page: {\n    startToCloseTimeout: '2m',\n    heartbeatTimeout: '5s',", to: PAGE },
  ]);
}

const PROVIDER_READ = "providerRead: {\n    startToCloseTimeout: '30s',\n    heartbeatTimeout: '2500ms',";
const PROVIDER_CREATE = "providerCreate: { startToCloseTimeout: '30s', heartbeatTimeout: '2500ms'";
const PAGE = "page: {\n    startToCloseTimeout: '2m',\n    heartbeatTimeout: '2500ms',";

function mutate(path: string, { file, from, to }: Mutation): void {
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} no longer holds this once, mend the mutant:\n${from}`);
  writeFileSync(path, text.replace(from, to));
}
