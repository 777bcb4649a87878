import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PayloadKeysFile {
  readonly path: string;
  /** Writes other keys; a process reads them when it starts. */
  write(current: string | null, ids: readonly string[]): void;
  /** The same with keys of other texts than their ids; the first encrypts. */
  writeKeys(seeds: Readonly<Record<string, string>>): void;
  text(): string;
  remove(): void;
}

/** The same key for the same text each time, in base64: 32 bytes. */
export function keyOf(seed: string): string {
  return createHash('sha256').update(seed).digest('base64');
}

/** A file of payload keys, readable by us alone; each id has the key of its own text. */
export function payloadKeysFile(current: string | null, ids: readonly string[]): PayloadKeysFile {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-keys-'));
  const path = join(folder, 'payload-keys.json');
  const put = (named: string | null, seeds: [string, string][]) => {
    const keys = Object.fromEntries(seeds.map(([id, seed]) => [id, keyOf(seed)]));
    writeFileSync(path, JSON.stringify({ current: named, keys }), { mode: 0o600 });
  };
  const write = (named: string | null, of: readonly string[]) =>
    put(
      named,
      of.map((id) => [id, id]),
    );
  write(current, ids);
  return {
    path,
    write,
    writeKeys: (seeds) => put(Object.keys(seeds)[0] ?? null, Object.entries(seeds)),
    text: () => readFileSync(path, 'utf8'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
